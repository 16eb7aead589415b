/* Small PE images and COFF objects for tests. */
#ifndef CSNI_WIRE_PE_H
#define CSNI_WIRE_PE_H

#include "wire/wire.h"

struct wire_pe_relocation {
    uint32_t off, symbol;
    uint16_t type;
};

struct wire_pe_section {
    const char *name;                /* over 8 characters: in the string table */
    uint32_t characteristics, rva;
    uint32_t virtual_size;           /* images; 0 there: none told */
    struct csni_span bytes;          /* borrowed until the file is built; padded to 16 in images */
    uint32_t bss_size;               /* SizeOfRawData of a section without bytes */
    const struct wire_pe_relocation *relocations;
    uint32_t relocation_count;
    bool overflown_relocations;      /* their number in the first of them */
    bool base64_name;
};

struct wire_pe_symbol {
    const char *name;                /* over 8 characters: in the string table */
    uint32_t value;
    int32_t section;
    uint16_t type;
    uint8_t storage_class, aux_count; /* aux records hold `aux_value` at 4, else zeros */
    uint32_t aux_value;
};

enum { WIRE_PE_DIRECTORIES = 16 };
enum wire_pe_shape { WIRE_PE_IMAGE32, WIRE_PE_IMAGE64, WIRE_PE_OBJECT, WIRE_PE_BIGOBJ };

struct wire_pe {
    enum wire_pe_shape shape;
    uint16_t machine, characteristics;
    uint64_t image_base;
    const struct wire_pe_section *sections;
    uint32_t section_count;
    const struct wire_pe_symbol *symbols;
    uint32_t symbol_count;
    struct { uint32_t rva, size; } directories[WIRE_PE_DIRECTORIES];
};

/* Where parts were put. */
struct wire_pe_places {
    size_t coff_header, optional_header, section_headers, symbols, strings;
};

/* `places` may be NULL. */
void wire_pe_build(const struct wire_pe *pe, struct wire *out, struct wire_pe_places *places);

#endif
