/* Address indexes by the rules of elfutils: what eu-addr2line answers at every address of code. */
#ifndef CALLSIGN_CLI_LIBDW_INDEX_H
#define CALLSIGN_CLI_LIBDW_INDEX_H

#include "stand_ins/address_index/address_index.h"
#include "stand_ins/libdw/libdw_module.h"

/* `call_discriminator` of a scope: what it is, and whether DWARF names the file of the call. */
enum libdw_scope_kind {
    LIBDW_SUBPROGRAM, LIBDW_INLINED, LIBDW_ENTRY_POINT,
    LIBDW_OUTER,             /* parent of an inlined one: the function that this was written in, which is inlined nowhere here */
    LIBDW_KIND_MASK = 3, LIBDW_HAS_CALL_FILE = 4
};

/* Makes the index of a linked object of 64 bits, in the order of its units. NULL: it cannot be made. */
struct address_index *libdw_index_make(struct libdw_module *module, const struct file_identity *object, const char *path);

#endif
