/* What the files of the PE/COFF reader share. */
#ifndef CSNI_PE_PRIVATE_H
#define CSNI_PE_PRIVATE_H

#include "object/pe/pe_exceptions.h"
#include "object/object_private.h"

struct csni_pe_directory {
    uint32_t rva, size; /* size 0: not there */
};

struct csni_pe_place {
    uint64_t addr;
    uint32_t section;
};

/* priv->own. A section's `link` and `info` are offset and number of its relocations. */
struct csni_pe {
    struct csni_span symbols, strings; /* the string table with the length it begins with; both empty without one */
    uint32_t symbol_size;
    struct csni_pe_directory exports, exceptions, debug; /* of an image */
    struct csni_pe_place *by_addr;     /* the sections of an image, ascending */
    uint32_t by_addr_count;
};

static inline const struct csni_pe *csni_pe_of(const struct csni_object *object) {
    return csni_object_priv_const(object)->own;
}

/* Fills by_addr. */
csn_status csni_pe_order_sections(struct csni_object_private *priv, struct csn_error *err);
/* The section of an image with that address, or CSNI_NO_SECTION. One search. */
uint32_t csni_pe_section_at(const struct csni_object *object, uint64_t addr);

csn_status csni_pe_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                           struct csn_error *err);
bool csni_pe_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out);

/* The value of symbol `index` for relocations: its section (CSNI_NO_SECTION: none) and offset there. False when there is no
 * such symbol or section. */
bool csni_pe_symbol_value(const struct csni_object *object, uint64_t index, uint32_t *section, uint64_t *offset);

bool csni_pe_needs_relocation(const struct csni_object *object, uint32_t section);
csn_status csni_pe_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                            struct csn_error *err);

csn_status csni_pe_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err);

#endif
