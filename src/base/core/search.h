/* Binary search: the one of the whole library. It stands in a header and is always inlined, so that the compiler knows the
 * comparison: no step calls anything, and where a step leads is chosen, not branched on, as no processor can foretell it.
 *
 * The order that a search relies on often comes from a file. One that does not ascend leads to some index in the range, in as
 * many steps, and never outside it. */
#ifndef CSNI_SEARCH_H
#define CSNI_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define CSNI_SEARCH_INLINE static inline __attribute__((always_inline))
#else
#define CSNI_SEARCH_INLINE static inline
#endif

/* Whether element `index` goes before `key`: true up to some index, false from there on. */
typedef bool csni_search_before(const void *context, size_t index, const void *key);

/* What is left of a search: the elements before `first` go before the key, those from first + left on do not. */
struct csni_search {
    size_t first, left;
};

/* Halves until at most `until` elements are left undecided: where what comes next is better done at once, or after a prefetch. */
CSNI_SEARCH_INLINE struct csni_search csni_search_narrow(struct csni_search s, size_t until, csni_search_before *before,
                                                         const void *context, const void *key) {
    while (s.left > until) {
        size_t rest = s.left / 2, end = s.first + (s.left - rest);
        s.first = before(context, end - 1, key) ? end : s.first;
        s.left = rest;
    }
    return s;
}

/* The first of [low, high) that does not go before the key; high: all do. low <= high. */
CSNI_SEARCH_INLINE size_t csni_search_in(size_t low, size_t high, csni_search_before *before, const void *context,
                                         const void *key) {
    struct csni_search s = { low, high - low };
    return csni_search_narrow(s, 0, before, context, key).first;
}

/* ---- by a field of ascending elements ---- */

/* The field of `width` bytes (4 or 8) at `offset` in elements of `stride` bytes. */
struct csni_search_field {
    const uint8_t *items;
    size_t stride, offset, width;
};

CSNI_SEARCH_INLINE uint64_t csni_search_field_at(const void *context, size_t index) {
    const struct csni_search_field *f = (const struct csni_search_field *)context;
    const uint8_t *p = f->items + index * f->stride + f->offset;
    uint64_t wide;
    uint32_t narrow;
    if (f->width == sizeof wide) {
        memcpy(&wide, p, sizeof wide);
        return wide;
    }
    memcpy(&narrow, p, sizeof narrow);
    return narrow;
}

CSNI_SEARCH_INLINE bool csni_search_is_below(const void *context, size_t index, const void *key) {
    return csni_search_field_at(context, index) < *(const uint64_t *)key;
}

CSNI_SEARCH_INLINE bool csni_search_is_up_to(const void *context, size_t index, const void *key) {
    return csni_search_field_at(context, index) <= *(const uint64_t *)key;
}

/* Among the items [low, high), which may be none of a NULL array: no pointer is made to them beforehand. */
CSNI_SEARCH_INLINE size_t csni_search_field(struct csni_search_field field, size_t low, size_t high, bool equal_too,
                                            uint64_t key) {
    return equal_too ? csni_search_in(low, high, csni_search_is_up_to, &field, &key)
                     : csni_search_in(low, high, csni_search_is_below, &field, &key);
}

/* Fields of other types do not compile. */
#define CSNI_SEARCH_FIELD(items, field)                                                                           \
    ((struct csni_search_field){ (const uint8_t *)(items), sizeof *(items), offsetof(__typeof__(*(items)), field), \
                                 _Generic((items)->field, uint32_t : 4, uint64_t : 8) })

/* The number of the `count` items whose `field` is below `key`: the index of the first that is not. */
#define csni_lower_bound(items, count, field, key) csni_search_field(CSNI_SEARCH_FIELD(items, field), 0, (count), false, (key))

/* The number of the `count` items whose `field` is at or below `key`: the index of the first above it. */
#define csni_upper_bound(items, count, field, key) csni_search_field(CSNI_SEARCH_FIELD(items, field), 0, (count), true, (key))

#endif
