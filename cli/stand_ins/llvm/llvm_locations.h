/* The expressions of a location. */
#ifndef CALLSIGN_CLI_LLVM_LOCATIONS_H
#define CALLSIGN_CLI_LLVM_LOCATIONS_H

#include "stand_ins/llvm/llvm_module.h"

/* Where the next one stands. */
struct llvm_locations {
    const unsigned char *p, *end; /* of a list */
    struct csn_str single;   /* the only one, if there is no list */
    bool has_single, big, is_new;
    unsigned addr_size;
};

/* Those of DW_AT_location; none where a DIE has no location, or in split DWARF a list. */
struct llvm_locations llvm_die_locations(const struct llvm_module *module, const struct csn_debug_die *die);
/* False: there are no more. */
bool llvm_locations_next(struct llvm_locations *locations, struct csn_str *out);

#endif
