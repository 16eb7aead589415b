/* Growth of flat arrays. */
#include "base/core/vec.h"

#include <string.h>

#include "base/core/checked.h"

bool csni_vec_grow(void *items_pointer, size_t *capacity, size_t need, size_t element_size,
                   const struct csn_allocator *alloc) {
    if (need <= *capacity) return true;
    enum { FIRST_CAPACITY = 8 };
    size_t new_capacity = *capacity + *capacity / 2; /* no overflow: that many elements are in memory */
    if (new_capacity < FIRST_CAPACITY) new_capacity = FIRST_CAPACITY;
    if (new_capacity < need) new_capacity = need;
    size_t bytes;
    if (!csni_mul_size(new_capacity, element_size, &bytes)) return false;
    /* The items pointer has its own type at the caller's: copied, not read through a void **. */
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    items = csni_realloc(alloc, items, *capacity * element_size, bytes);
    if (!items) return false;
    memcpy(items_pointer, &items, sizeof items);
    *capacity = new_capacity;
    return true;
}
