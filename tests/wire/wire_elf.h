/* Small ELF files for tests: 32 and 64 bits, both byte orders, any kind and machine. */
#ifndef CSNI_WIRE_ELF_H
#define CSNI_WIRE_ELF_H

#include "wire/wire.h"

struct wire_section {
    char name[48];
    uint32_t type;           /* SHT_ */
    uint64_t flags, addr;
    struct csni_span bytes;  /* a copy */
    uint64_t nobits_size;    /* sh_size of SHT_NOBITS */
    uint32_t link, info;
    uint64_t align, entry_size;
};

struct wire_segment {
    uint32_t type, flags;    /* PT_, PF_ */
    uint64_t vaddr, memsz;
    uint32_t section;        /* whose bytes it has; 0: none */
    uint64_t align;
};

enum { WIRE_ELF_MAX_SECTIONS = 64, WIRE_ELF_MAX_SEGMENTS = 8 };

/* Section 0 is there from the beginning. The section names come last, written by wire_elf_build(). */
struct wire_elf {
    bool wide, big;          /* wide: ELFCLASS64 */
    uint16_t type, machine;  /* ET_, EM_ */
    struct wire_section sections[WIRE_ELF_MAX_SECTIONS];
    uint32_t section_count;
    struct wire_segment segments[WIRE_ELF_MAX_SEGMENTS];
    uint32_t segment_count;
    bool without_section_headers;
    bool extended_numbering; /* counts and name table index in section header 0 */
};

void wire_elf_init(struct wire_elf *elf, bool wide, bool big, uint16_t type, uint16_t machine);
void wire_elf_deinit(struct wire_elf *elf);

/* Each returns the index of the section added; further fields may be set in elf->sections[index]. */
uint32_t wire_elf_add(struct wire_elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                      struct csni_span bytes);
uint32_t wire_elf_add_nobits(struct wire_elf *elf, const char *name, uint64_t flags, uint64_t addr, uint64_t size);
uint32_t wire_elf_add_wire(struct wire_elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                           struct wire *content);
/* A SHT_NOTE section .note.gnu.build-id. */
uint32_t wire_elf_add_build_id(struct wire_elf *elf, const void *id, uint32_t size);

struct wire_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t type, bind, other; /* STT_, STB_, st_other */
    uint32_t section;          /* index of a section, or SHN_ */
    bool by_index_table;       /* st_shndx is SHN_XINDEX, `section` stands in SHT_SYMTAB_SHNDX */
};
/* Adds the names, the symbols after a null symbol (so symbols[0] has index 1), and an SHT_SYMTAB_SHNDX section if a
 * symbol needs one. `type`: SHT_SYMTAB or SHT_DYNSYM. Returns the index of the symbol table. */
uint32_t wire_elf_add_symbols(struct wire_elf *elf, uint32_t type, const struct wire_symbol *symbols, size_t count);

struct wire_relocation {
    uint64_t off;
    uint32_t type, symbol;
    int64_t addend; /* SHT_RELA only */
};
/* `type`: SHT_REL or SHT_RELA. */
uint32_t wire_elf_add_relocations(struct wire_elf *elf, uint32_t type, uint32_t target, uint32_t symbols,
                                  const struct wire_relocation *relocations, size_t count);

void wire_elf_add_segment(struct wire_elf *elf, struct wire_segment segment);

/* Where parts of the file were put, for tests that damage them. */
struct wire_elf_places {
    size_t program_headers, section_headers; /* offset; 0: none */
    size_t program_header_size, section_header_size;
    size_t section_off[WIRE_ELF_MAX_SECTIONS + 1];
};

/* Writes the file: header, program headers, section contents, section headers. `places` may be NULL. */
void wire_elf_build(struct wire_elf *elf, struct wire *out, struct wire_elf_places *places);

#endif
