// What the C++ files share: the same inline functions and templates stand in both objects (COMDAT).
#pragma once
#include "inlines.h"

extern volatile int observed;

namespace outer {
inline namespace v1 {

template <typename T, int N> struct ring {
    T items[N];
    int next = 0;
    void push(T x) {
        items[next] = x;
        next = (next + 1) % N;
    }
    template <typename F> __attribute__((noinline)) T fold(F f) const {
        T r = T();
        for (int i = 0; i < N; i++)
            r = f(r, items[i]);
        return r;
    }
    struct cursor {
        int at;
        int advance(int by);
    };
};

template <typename T, int N> int ring<T, N>::cursor::advance(int by) {
    at = clamp(at + by, 0, N);
    return at;
}

inline int lambda_in_inline(int x) {
    auto outer_lambda = [x](int y) {
        auto inner_lambda = [y](int z) __attribute__((noinline)) { return scale(y, z) + observed; };
        return inner_lambda(x) + inner_lambda(y + 1);
    };
    return outer_lambda(x) + outer_lambda(observed);
}

__attribute__((noinline)) inline int comdat(int x) {
    static int calls = observed;
    return area(x, ++calls) + lambda_in_inline(x);
}

struct shape {
    shape(int w);
    virtual ~shape();
    virtual int size() const { return area(width, 2); }
    int width;
    operator int() const { return size(); }
    shape &operator+=(const shape &other) {
        width += other.width;
        return *this;
    }
    bool operator|(const shape &other) const { return (width | other.width) != 0; }
};

struct colored : virtual shape {
    colored(int w, int c);
    ~colored() override;
    int size() const override;
    int color;
};

struct deep : colored {
    deep(int w);
    ~deep() override;
    int size() const override;
};

} // namespace v1
int second_unit(int x);
} // namespace outer
