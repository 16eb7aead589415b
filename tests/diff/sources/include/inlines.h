/* Inline functions that call each other, with bodies in several ranges once they are inlined. */
#ifndef INLINES_H
#define INLINES_H

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS int scale(int x, int by) {
    return x * by + (x >> 3);
}

ALWAYS int area(int w, int h) {
    int a = scale(w, h);
    if (a > 1000)
        a -= scale(h, 3);
    return a;
}

ALWAYS unsigned mix(unsigned h, unsigned v) {
    h ^= v;
    h *= 0x01000193u;
    for (int i = 0; i < 3; i++)
        h = (h << 5) ^ (h >> 7) ^ (unsigned)scale((int)h, i + 2);
    return h;
}

static inline int clamp(int x, int low, int high) {
    if (x < low)
        return low;
    if (x > high)
        return high;
    return area(x, 2);
}
#endif
