#include "shapes.h"

namespace geo {

volatile int sink;

namespace {

__attribute__((noinline)) int hidden(int v) {
    sink = v;
    return four_times(v) + 1;
}

} // namespace

int Square::area() const {
    int result = side * side;
    sink = result;
    return clamp(result, 0, sink);
}

__attribute__((noinline)) int Square::count(int from) {
    int total = 0;
    for (int i = 0; i < from; i++) {
        total += twice(i);
        sink = total;
    }
    return total;
}

int perimeter(const Square &square) {
    Point p = { square.side, sink };
    Point q = { sink, square.side };
    return four_times(square.side) + p.dot(q) + hidden(square.side);
}

} // namespace geo
