/* Names and numbers that DIEs have, as eu-addr2line reads them. */
#ifndef CALLSIGN_CLI_LIBDW_NAMES_H
#define CALLSIGN_CLI_LIBDW_NAMES_H

#include "stand_ins/libdw/libdw_module.h"

/* The linkage name of a DIE, or of those that it stands for, else its plain name, else "??". */
struct csn_str libdw_die_name(const struct csn_debug_die *die);
/* 0 and *found false: it has no such attribute. */
uint64_t libdw_die_number(const struct csn_debug_die *die, uint32_t name, bool *found);
/* What stands before the file of a call where it is no absolute path. */
struct csn_str libdw_call_directory(const struct libdw_unit *unit);

/* The scopes of an address: within an inlined call, those of the call, then those that the inlined function was written in. */
struct libdw_scopes {
    uint32_t items[256];     /* in unit->dies */
    size_t count;
};
bool libdw_find_scopes(struct libdw_unit *unit, uint64_t addr, struct libdw_scopes *out);
/* The same from its innermost one; LIBDW_NO_PARENT: there is none. */
bool libdw_scopes_from(struct libdw_unit *unit, uint32_t innermost, struct libdw_scopes *out);
bool libdw_is_function(uint32_t tag);

#endif
