/* Symbols of functions and variables of a module, by address: an index has functions alone. */
#ifndef CSNI_OWN_SYMBOLS_H
#define CSNI_OWN_SYMBOLS_H

#include "base/core/file_map.h"
#include "base/core/vec.h"
#include "object/object.h"

struct csni_own_symbol {
    uint64_t addr, size;
    const char *name;        /* with a NUL: string tables of ELF have them */
    uint32_t rank;           /* among those of one address the highest is given */
};

/* The file stays open, since names point into it. */
struct csni_own_symbols {
    const struct csn_allocator *alloc;
    struct csni_file_map map;
    struct csni_object *object;
    CSNI_VEC(struct csni_own_symbol) symbols;
};

/* Reads .symtab, or .dynsym where there is none. A file that cannot be read has no symbols. `out` is all zeros. */
void csni_own_symbols_open(struct csni_own_symbols *out, const char *path, const struct csn_allocator *alloc);
void csni_own_symbols_close(struct csni_own_symbols *symbols);
/* The symbol that covers an image address, the last that begins before it; NULL: none. */
const struct csni_own_symbol *csni_own_symbols_find(const struct csni_own_symbols *symbols, uint64_t addr);

#endif
