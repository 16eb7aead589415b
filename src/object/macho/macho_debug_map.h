/* Debug maps: a Mach-O image that was linked without dsymutil's help has no DWARF of its own. Its stabs name the object
 * files that have it, and where their functions went. */
#ifndef CSNI_MACHO_DEBUG_MAP_H
#define CSNI_MACHO_DEBUG_MAP_H

#include "object/object.h"

struct csni_debug_map_function {
    struct csn_str name;   /* as symbols of the object file have it: without `_` */
    uint64_t addr, size;   /* in the image; size 0: not told */
};

struct csni_debug_map_object {
    struct csn_str path;   /* of the object file, or of the archive it is a member of */
    struct csn_str member; /* its name in the archive; empty: a file of its own */
    uint64_t mtime;        /* of the file or member when it was linked, seconds since 1970; 0: not told */
    uint32_t first_function, function_count;
};

typedef CSNI_VEC(struct csni_debug_map_object) csni_debug_map_objects;
typedef CSNI_VEC(struct csni_debug_map_function) csni_debug_map_functions;

struct csni_debug_map {
    csni_debug_map_objects objects;     /* in the order of linking */
    csni_debug_map_functions functions; /* those of an object file follow one another */
    uint64_t damaged;                   /* entries left out */
};

/* Names are views into the image's bytes. CSN_NONE: not a Mach-O file, or no object file is named. `out` is then, and on
 * failure, empty. */
csn_status csni_macho_debug_map(const struct csni_object *object, const struct csn_allocator *alloc,
                                struct csni_debug_map *out, struct csn_error *err);
void csni_debug_map_deinit(struct csni_debug_map *map);

#endif
