/* Small Mach-O files for tests: 32 and 64 bits, both byte orders, any kind and machine; and universal files of them. */
#ifndef CSNI_WIRE_MACHO_H
#define CSNI_WIRE_MACHO_H

#include "wire/wire.h"

struct wire_macho_relocation {
    uint32_t off, symbol;
    uint8_t type, length;          /* length: log2 of the bytes */
    bool pc_relative, is_extern, is_scattered;
};

struct wire_macho_section {
    char name[17], segment_name[17];
    uint64_t addr, size;           /* size: of what has no bytes */
    struct csni_span bytes;        /* borrowed; empty: offset 0 is written */
    uint32_t flags, reserved1, reserved2, align;
    const struct wire_macho_relocation *relocations;
    uint32_t relocation_count;
};

struct wire_macho_segment {
    char name[17];
    uint64_t addr, size, file_size;
    uint32_t max_protection, protection;
    uint32_t first_section, section_count;
};

struct wire_macho_symbol {
    const char *name;
    uint8_t type, section;
    uint16_t desc;
    uint64_t value;
};

enum { WIRE_MACHO_MAX_SECTIONS = 16, WIRE_MACHO_MAX_SEGMENTS = 6 };

/* Everything is a field that a test may set before wire_macho_build(). */
struct wire_macho {
    bool wide, big;
    uint32_t cpu_type, cpu_subtype, file_type, flags;
    struct wire_macho_segment segments[WIRE_MACHO_MAX_SEGMENTS];
    uint32_t segment_count;
    struct wire_macho_section sections[WIRE_MACHO_MAX_SECTIONS];
    uint32_t section_count;
    const struct wire_macho_symbol *symbols;
    uint32_t symbol_count;
    const uint32_t *indirect;
    uint32_t indirect_count;
    struct csni_span function_starts, exports;
    bool exports_in_dyld_info;
    const uint8_t *uuid;           /* 16 bytes; NULL: none */
};

void wire_macho_init(struct wire_macho *m, bool wide, bool big, uint32_t cpu_type, uint32_t file_type);
/* The section is the last one's of the segment added last. */
struct wire_macho_segment *wire_macho_add_segment(struct wire_macho *m, const char *name, uint64_t addr, uint64_t size,
                                                  uint32_t protection);
struct wire_macho_section *wire_macho_add(struct wire_macho *m, const char *segment_name, const char *name, uint64_t addr,
                                          uint32_t flags, struct csni_span bytes);

/* Where load commands were put. */
struct wire_macho_places {
    size_t commands, commands_end;
    size_t segments[WIRE_MACHO_MAX_SEGMENTS];
    size_t symtab, dysymtab;
};

/* Writes the file. `places` may be NULL. */
void wire_macho_build(struct wire_macho *m, struct wire *out, struct wire_macho_places *places);

struct wire_macho_slice {
    uint32_t cpu_type, cpu_subtype;
    struct csni_span file;
};
/* A universal file; slices begin at multiples of 16. */
void wire_macho_universal(struct wire *out, bool wide, const struct wire_macho_slice *slices, uint32_t count);

#endif
