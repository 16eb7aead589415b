#include "util.h"
#include "../include/inlines.h"

static int helper(int x) __attribute__((noinline));
static int helper(int x) {
    return clamp(x, 3, 400) + area(x, 7);
}

int util_sum(const int *values, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        if (__builtin_expect(values[i] < 0, 0))
            sum += util_fail(values[i]);
        sum += helper(values[i]) + scale(sum, i);
    }
    return sum;
}

int util_unused(int x) {
    return helper(x) - 1;
}

unsigned util_hash(const char *s) {
    unsigned h = 0x811c9dc5u;
    while (*s)
        h = mix(h, (unsigned char)*s++);
    return h;
}
