/* What the files of the Mach-O reader share. */
#ifndef CSNI_MACHO_PRIVATE_H
#define CSNI_MACHO_PRIVATE_H

#include "base/arena.h"
#include "object/object_private.h"

/* A part of the file that a load command names, not checked. */
struct csni_macho_part {
    uint32_t off, count; /* count: of entries, or of bytes */
};

/* Symbols that are put together, with their names: stubs, and exports of a trie. */
struct csni_macho_made {
    CSNI_VEC(struct csni_symbol) symbols;
    uint64_t damaged;
    bool is_made;
};

/* priv->own. */
struct csni_macho {
    uint32_t file_type, cpu_subtype;
    bool has_symbols;
    struct csni_macho_part symbols, strings, indirect, function_starts, exports;
    struct csni_macho_part *relocations;   /* one for each section */
    uint32_t relocation_capacity;
    struct csni_arena names;
    struct csni_macho_made stubs, exported;
};

static inline struct csni_macho *csni_macho_own(const struct csni_object *object) {
    return csni_object_priv_const(object)->own;
}

/* One entry of the symbol table. */
struct csni_nlist {
    uint32_t name;
    uint8_t type, section;
    uint16_t desc;
    uint64_t value;
};
/* `at`: NLIST_SIZE or NLIST_64_SIZE bytes. */
void csni_macho_decode_nlist(const struct csni_object *object, const uint8_t *at, struct csni_nlist *out);
/* Symbol table and names; CSN_NONE without one. */
csn_status csni_macho_symbol_table(const struct csni_object *object, struct csni_span *symbols, struct csni_span *strings,
                                   struct csn_error *err);
static inline uint64_t csni_macho_nlist_size(const struct csni_object *object) {
    return object->address_size == 8 ? 16 : 12;
}
/* Without the `_` that the compiler puts before every C name. */
static inline struct csn_str csni_macho_plain_name(struct csn_str name) {
    if (name.len && name.ptr[0] == '_') return (struct csn_str){ name.ptr + 1, name.len - 1 };
    return name;
}
/* The Thumb bit of 32-bit arm code removed. */
uint64_t csni_macho_code_addr(const struct csni_object *object, uint64_t addr);
static inline bool csni_macho_is_in_section(const struct csni_section *s, uint64_t addr) {
    return addr >= s->addr && addr - s->addr < s->size;
}
/* The section in memory that holds an address, CSNI_NO_SECTION without one. */
uint32_t csni_macho_section_at(const struct csni_object *object, uint64_t addr);
/* Bytes of a part of `count` entries; CSN_E_TRUNCATED names `what`. */
csn_status csni_macho_part_bytes(const struct csni_object *object, const char *what, struct csni_macho_part part,
                                 uint64_t entry_size, struct csni_span *out, struct csn_error *err);

csn_status csni_macho_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                              struct csn_error *err);
bool csni_macho_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out);
/* Fill own->stubs and own->exported, at the first iteration over such a table, which no other thread may begin at the same
 * time. Damaged entries are counted there. */
csn_status csni_macho_make_stubs(struct csni_object *object, struct csni_span symbols, struct csni_span strings,
                                 struct csn_error *err);
csn_status csni_macho_make_exports(struct csni_object *object, struct csn_error *err);

bool csni_macho_needs_relocation(const struct csni_object *object, uint32_t section);
csn_status csni_macho_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                               struct csn_error *err);
csn_status csni_macho_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err);

#endif
