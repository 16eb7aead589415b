/* The two sorts of the library. They stand in a header so that the compiler knows size and comparison: as a call, a sort cost a
 * program with many type units 2.7% of its conversion. Neither recurses, and neither has a bad case for hostile input to find.
 *
 * csni_merge_sort() is the one to use where equal elements must keep their order: it is stable, and wants as much memory again.
 * csni_heap_sort() wants none, so that it cannot fail: for keys without equals, where nothing else needs memory. The qsort() of
 * libc takes memory past the csn_allocator. */
#ifndef CSNI_SORT_H
#define CSNI_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the element at `a` goes before the one at `b`. */
typedef bool csni_before(const void *context, const void *a, const void *b);

/* Whether they ascend already, as they mostly do where a producer sorted them. `size`: bytes of an element, here and below. */
static inline bool csni_is_sorted(const void *items, size_t count, size_t size, csni_before *before, const void *context) {
    const uint8_t *p = (const uint8_t *)items;
    for (size_t i = 1; i < count; i++)
        if (before(context, p + i * size, p + (i - 1) * size)) return false;
    return true;
}

/* ---- stable, with memory ---- */

/* Merges neighbouring sorted runs of `run` elements. */
static inline void csni_merge_runs(const uint8_t *from, uint8_t *to, size_t count, size_t run, size_t size, csni_before *before,
                                   const void *context) {
    for (size_t low = 0, high; low < count; low = high) {
        size_t middle = count - low > run ? low + run : count;
        high = count - middle > run ? middle + run : count;
        /* One after the other already, as runs of what a linker put together mostly are. */
        if (middle == high || !before(context, from + middle * size, from + (middle - 1) * size)) {
            memcpy(to + low * size, from + low * size, (high - low) * size);
            continue;
        }
        for (size_t a = low, b = middle, k = low; k < high; k++) {
            bool second = a == middle || (b < high && before(context, from + b * size, from + a * size));
            memcpy(to + k * size, from + (second ? b++ : a++) * size, size);
        }
    }
}

/* Ascending; equal elements keep their order. `spare` has room for as many, and is overwritten. */
static inline void csni_merge_sort(void *items, void *spare, size_t count, size_t size, csni_before *before,
                                   const void *context) {
    uint8_t *from = (uint8_t *)items, *to = (uint8_t *)spare;
    for (size_t run = 1; run < count; run = run > count / 2 ? count : 2 * run) {
        csni_merge_runs(from, to, count, run, size, before, context);
        uint8_t *merged = to;
        to = from;
        from = merged;
    }
    if (count && from != items) memcpy(items, from, count * size);
}

/* ---- in place ---- */

static inline void csni_heap_swap(uint8_t *a, uint8_t *b, size_t size) {
    enum { CHUNK = 64 }; /* elements are mostly smaller: one copy, whose size the compiler knows */
    for (size_t at = 0; at < size; at += CHUNK) {
        uint8_t chunk[CHUNK];
        size_t n = size - at < CHUNK ? size - at : CHUNK;
        memcpy(chunk, a + at, n);
        memcpy(a + at, b + at, n);
        memcpy(b + at, chunk, n);
    }
}

/* Moves the root down until no child goes after it. */
static inline void csni_heap_sift(uint8_t *items, size_t root, size_t count, size_t size, csni_before *before,
                                  const void *context) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && before(context, items + child * size, items + (child + 1) * size)) child++;
        if (!before(context, items + root * size, items + child * size)) return;
        csni_heap_swap(items + root * size, items + child * size, size);
    }
}

/* Ascending; equal elements in any order, the same for the same input. */
static inline void csni_heap_sort(void *items, size_t count, size_t size, csni_before *before, const void *context) {
    uint8_t *p = (uint8_t *)items;
    for (size_t root = count / 2; root-- > 0;) csni_heap_sift(p, root, count, size, before, context);
    for (size_t left = count; left > 1;) {
        left--;
        csni_heap_swap(p, p + left * size, size);
        csni_heap_sift(p, 0, left, size, before, context);
    }
}

#endif
