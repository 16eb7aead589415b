/* The modules of a profile while it is symbolicated. */
#ifndef CSNI_PROFILE_MODULES_H
#define CSNI_PROFILE_MODULES_H

#include <callsign/store.h>
#include <callsign/symbolicate.h>

#include "profile/profile_private.h"

/* All zeros at first, but for `p`, `err` and the allocators. */
struct profile_modules {
    struct csn_profile *p;
    struct csn_error *err;
    struct csn_process_maps *maps;
    CSNI_VEC(struct csn_module) items;       /* by module: what the symbolicator gets */
    CSNI_VEC(uint64_t) biases;               /* what a pc is more than its address in the index */
    CSNI_VEC(struct profile_layout) indexed; /* what its index tells */
    size_t used_count, without_count;        /* modules that locations are in, and those of them without an index */
};

/* Finds the index and the layout of each module in which a location is, and notes which have none. */
csn_status csni_profile_find_modules(struct profile_modules *modules, struct csn_store *store);
/* Whether an index is asked for the names of a location, and there is one. */
bool csni_profile_has_index(const struct profile_modules *modules, const struct profile_location *location);
/* The address of such a location in its index. */
uint64_t csni_profile_image_addr(const struct profile_modules *modules, const struct profile_location *location);
/* Where no mapping tells how far a kernel was moved, the pcs of such a location may be addresses of other functions: what the input
 * calls them shows whether they are. */
bool csni_profile_may_be_elsewhere(const struct profile_modules *modules, const struct profile_location *location);
void csni_profile_modules_deinit(struct profile_modules *modules);

#endif
