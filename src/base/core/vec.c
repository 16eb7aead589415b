/* Growth of flat arrays. */
#include "base/core/vec.h"

#include <string.h>

#include "base/core/checked.h"

bool csni_vec_grow(void *items_pointer, size_t *room, size_t need, size_t element_size,
                   const struct csn_allocator *alloc) {
    if (need <= *room) return true;
    enum { FIRST_ROOM = 8 };
    size_t new_room = *room + *room / 2; /* no overflow: that many elements are in memory */
    if (new_room < FIRST_ROOM) new_room = FIRST_ROOM;
    if (new_room < need) new_room = need;
    size_t bytes;
    if (!csni_mul_size(new_room, element_size, &bytes)) return false;
    /* The items pointer has its own type at the caller's: copied, not read through a void **. */
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    items = csni_realloc(alloc, items, *room * element_size, bytes);
    if (!items) return false;
    memcpy(items_pointer, &items, sizeof items);
    *room = new_room;
    return true;
}
