/* Mangled names of symbols, for functions of which debug information has a plain name only. */
#ifndef CSNI_SYMBOL_NAMES_H
#define CSNI_SYMBOL_NAMES_H

#include "convert/conversion.h"

struct csni_mangled_symbol {
    uint64_t addr, size;
    struct csn_str name; /* a view into the object's strings */
};

/* The mangled ones of a symbol table, in its order. */
typedef CSNI_VEC(struct csni_mangled_symbol) csni_mangled_symbols;

/* Adds a symbol if its name is one that a compiler mangled: C++, Rust, D, Swift, MSVC, Crystal. False: out of memory. */
bool csni_mangled_symbols_add_checked(csni_mangled_symbols *symbols, uint64_t addr, uint64_t size, struct csn_str name);
static inline bool csni_mangled_symbols_add(csni_mangled_symbols *symbols, uint64_t addr, uint64_t size, struct csn_str name) {
    char first = name.ptr[0]; /* of most C names not one of these */
    bool maybe = first == '_' ? name.len > 2 && (name.ptr[1] != '_' || name.ptr[2] == 'Z')
                              : first < '0' || first == '?' || first == '~';
    return !maybe || csni_mangled_symbols_add_checked(symbols, addr, size, name);
}

/* Gives each function from DWARF that has no linkage name the name of the mangled symbol at its start which has the plain name as a
 * part: of several the one that has most of its identifiers, of these the largest, then the last, as llvm-symbolizer
 * does. Not where call sites are kept, whose patterns are made for the names of the debug information, nor where
 * functions are merged as the reference does. */
csn_status csni_take_symbol_names(struct csni_conversion *c, const csni_mangled_symbols *symbols, struct csn_error *err);
/* Gives functions from DWARF without any name that of a symbol at their start: `symbols` are those not left out as covered. */
csn_status csni_name_nameless(struct csni_conversion *c, const struct csni_batch *symbols, struct csn_error *err);

#endif
