/* Which module holds a pc. */
#ifndef CSNI_MODULE_MAP_H
#define CSNI_MODULE_MAP_H

#include <callsign/symbolicate.h>

#include "base/core/vec.h"

enum { CSNI_NO_MODULE = UINT32_MAX };

/* From here up to the next one's start, one module holds everything, or none does. */
struct csni_module_part {
    uint64_t start;
    uint32_t module;
};
struct csni_module_map {
    CSNI_VEC(struct csni_module_part) parts; /* ascending */
};

void csni_module_map_init(struct csni_module_map *map, const struct csn_allocator *alloc);
void csni_module_map_deinit(struct csni_module_map *map);
/* False: no memory; the map is as it was. */
bool csni_module_map_set(struct csni_module_map *map, const struct csn_module *modules, uint32_t count);
/* CSNI_NO_MODULE: none. One binary search. */
uint32_t csni_module_map_find(const struct csni_module_map *map, uint64_t pc);

#endif
