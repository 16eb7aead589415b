/* From addresses in an object file to those in the image that it was linked into. */
#ifndef CSNI_ADDRESS_MAP_H
#define CSNI_ADDRESS_MAP_H

#include "object/macho/macho_debug_map.h"
#include "object/object.h"

/* Object addresses [object_start, object_end) are at image_start in the image. */
struct csni_mapped_range {
    uint64_t object_start, object_end, image_start;
};

struct csni_address_map {
    CSNI_VEC(struct csni_mapped_range) ranges; /* ascending by object_start, none overlaps another */
    uint32_t missing; /* functions that the object has no symbol for */
};

/* Looks `functions`, the part of a debug map that belongs to `object`, up in the symbols of that object file.
 * On failure `out` is empty. O(n log n) in symbols and functions. */
csn_status csni_address_map_make(struct csni_object *object, const struct csni_debug_map_function *functions, uint32_t count,
                                 const struct csn_allocator *alloc, struct csni_address_map *out, struct csn_error *err);
void csni_address_map_deinit(struct csni_address_map *map);

/* The range that holds an object address; NULL: it was not linked. Any thread. */
const struct csni_mapped_range *csni_address_map_find(const struct csni_address_map *map, uint64_t object_addr);

#endif
