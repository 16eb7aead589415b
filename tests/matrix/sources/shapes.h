// A program that needs no library, so that every target can link it: names, inlined calls, lines.
#pragma once

namespace geo {

extern volatile int sink;

struct Point {
    int x, y;
    int dot(const Point &other) const {
        sink = y;
        return x * other.x +
               y * other.y;
    }
};

struct Square {
    int side;
    int area() const;
    static int count(int from);
};

inline int twice(int v) {
    sink = v;
    return v + v;
}

inline int four_times(int v) {
    int half = twice(v);
    return twice(half);
}

template <typename T>
inline T clamp(T v, T low, T high) {
    if (v < low) return low;
    return v > high ? high : v;
}

int perimeter(const Square &square);

} // namespace geo

extern "C" int entry(int argument);
