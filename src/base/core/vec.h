/* Growable flat arrays. CSNI_VEC(T) declares the type; elements are reached as v.items[i], i < v.count.
 * An empty vector is all zeros but for `alloc`. */
#ifndef CSNI_VEC_H
#define CSNI_VEC_H

#include "base/core/alloc.h"
#include <stdbool.h>

#define CSNI_VEC(T)                        \
    struct {                               \
        T *items;                          \
        size_t count, capacity;            \
        const struct csn_allocator *alloc; \
    }

/* Reserves memory for `need` elements in all; false when out of memory. */
bool csni_vec_grow(void *items_pointer, size_t *capacity, size_t need, size_t element_size, const struct csn_allocator *alloc);

#define csni_vec_reserve(v, need) \
    ((need) <= (v)->capacity || csni_vec_grow(&(v)->items, &(v)->capacity, (need), sizeof *(v)->items, (v)->alloc))

/* Appends one element; false when out of memory. */
#define csni_vec_push(v, value) \
    (csni_vec_reserve((v), (v)->count + 1) ? ((v)->items[(v)->count] = (value), (v)->count++, true) : false)

#define csni_vec_deinit(v)                                                     \
    do {                                                                       \
        csni_free((v)->alloc, (v)->items, (v)->capacity * sizeof *(v)->items); \
        (v)->items = NULL;                                                     \
        (v)->count = (v)->capacity = 0;                                        \
    } while (0)

#endif
