/* Half-open ranges [start, end), joined. */
#ifndef CSNI_RANGES_H
#define CSNI_RANGES_H

#include "base/core/search.h"
#include "base/core/sort.h"

/* Where an element of `size` bytes has its ends, of `width` bytes each (4 or 8). */
struct csni_range_fields {
    size_t size, start, end, width;
};

CSNI_SEARCH_INLINE uint64_t csni_range_field(const uint8_t *element, size_t offset, size_t width) {
    return csni_search_field_at(&(struct csni_search_field){ element, 0, offset, width }, 0);
}

static inline bool csni_range_before(const void *context, const void *a, const void *b) {
    const struct csni_range_fields *f = (const struct csni_range_fields *)context;
    return csni_range_field((const uint8_t *)a, f->start, f->width) < csni_range_field((const uint8_t *)b, f->start, f->width);
}

CSNI_SEARCH_INLINE size_t csni_join_range_fields(void *items, size_t count, struct csni_range_fields f) {
    uint8_t *p = (uint8_t *)items;
    if (!csni_is_sorted(p, count, f.size, csni_range_before, &f)) csni_heap_sort(p, count, f.size, csni_range_before, &f);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *next = p + i * f.size;
        uint8_t *last = kept ? p + (kept - 1) * f.size : NULL;
        if (!last || csni_range_field(next, f.start, f.width) > csni_range_field(last, f.end, f.width)) {
            if (kept != i) memmove(p + kept * f.size, next, f.size);
            kept++;
        } else if (csni_range_field(next, f.end, f.width) > csni_range_field(last, f.end, f.width)) {
            memcpy(last + f.end, next + f.end, f.width);
        }
    }
    return kept;
}

/* Sorts `count` ranges by their start and joins those that overlap or touch, in place; how many are left. `start` and `end` are
 * the names of two uint32_t or two uint64_t of an item. Whatever else an item has stays that of the first range of a joined one.
 * An empty range that touches none stays. */
#define csni_join_ranges(items, count, start, end)                                                                           \
    csni_join_range_fields((items), (count),                                                                                 \
                           (struct csni_range_fields){ sizeof *(items), offsetof(__typeof__(*(items)), start),               \
                                                       offsetof(__typeof__(*(items)), end),                                  \
                                                       _Generic((items)->start, uint32_t : 4, uint64_t : 8) })

#endif
