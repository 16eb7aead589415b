/* What the benches share for taking times. To be included after a _GNU_SOURCE, for the clock. */
#ifndef CALLSIGN_BENCH_TIMING_H
#define CALLSIGN_BENCH_TIMING_H

#include <time.h>

static inline double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
