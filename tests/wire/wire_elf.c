/* ELF files for tests. */
#include "wire/wire_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/elf/elf_layout.h"

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "wire_elf: %s\n", what);
    abort();
}

/* An address, offset or size of the file's class. */
static size_t put_word(struct wire *w, const struct wire_elf *elf, uint64_t value) {
    return wire_uint(w, value, elf->wide ? 8 : 4);
}

void wire_elf_init(struct wire_elf *elf, bool wide, bool big, uint16_t type, uint16_t machine) {
    memset(elf, 0, sizeof *elf);
    elf->wide = wide;
    elf->big = big;
    elf->type = type;
    elf->machine = machine;
    elf->section_count = 1;
}

void wire_elf_deinit(struct wire_elf *elf) {
    for (uint32_t i = 0; i < elf->section_count; i++) free((void *)(uintptr_t)elf->sections[i].bytes.ptr);
    elf->section_count = 0;
}

uint32_t wire_elf_add(struct wire_elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                      struct csni_span bytes) {
    require(elf->section_count < WIRE_ELF_MAX_SECTIONS, "too many sections");
    struct wire_section *s = &elf->sections[elf->section_count];
    require(strlen(name) < sizeof s->name, "section name too long");
    memset(s, 0, sizeof *s);
    memcpy(s->name, name, strlen(name));
    s->type = type;
    s->flags = flags;
    s->addr = addr;
    s->align = 1;
    uint8_t *copy = malloc(bytes.size + 1);
    require(copy != NULL, "out of memory");
    if (bytes.size) memcpy(copy, bytes.ptr, bytes.size);
    s->bytes = (struct csni_span){ copy, bytes.size };
    return elf->section_count++;
}

uint32_t wire_elf_add_nobits(struct wire_elf *elf, const char *name, uint64_t flags, uint64_t addr, uint64_t size) {
    uint32_t section = wire_elf_add(elf, name, SHT_NOBITS, flags, addr, (struct csni_span){ NULL, 0 });
    elf->sections[section].nobits_size = size;
    return section;
}

uint32_t wire_elf_add_wire(struct wire_elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                           struct wire *content) {
    return wire_elf_add(elf, name, type, flags, addr, wire_span(content));
}

uint32_t wire_elf_add_build_id(struct wire_elf *elf, const void *id, uint32_t size) {
    struct wire w;
    wire_init(&w, elf->big);
    wire_u32(&w, 4);
    wire_u32(&w, size);
    wire_u32(&w, NT_GNU_BUILD_ID);
    wire_cstr(&w, "GNU");
    wire_bytes(&w, id, size);
    wire_align(&w, 4);
    uint32_t section = wire_elf_add_wire(elf, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, &w);
    elf->sections[section].align = 4;
    wire_deinit(&w);
    return section;
}

static void put_symbol(struct wire *w, const struct wire_elf *elf, const struct wire_symbol *s, size_t name) {
    uint64_t info = (uint64_t)s->bind << 4 | s->type;
    wire_u32(w, name);
    if (!elf->wide) {
        wire_u32(w, s->value);
        wire_u32(w, s->size);
    }
    wire_u8(w, info);
    wire_u8(w, s->other);
    wire_u16(w, s->by_index_table ? (uint32_t)SHN_XINDEX : s->section);
    if (elf->wide) {
        wire_u64(w, s->value);
        wire_u64(w, s->size);
    }
}

uint32_t wire_elf_add_symbols(struct wire_elf *elf, uint32_t type, const struct wire_symbol *symbols, size_t count) {
    bool is_dynamic = type == SHT_DYNSYM, has_extended = false;
    struct wire names, table, extended;
    wire_init(&names, elf->big);
    wire_init(&table, elf->big);
    wire_init(&extended, elf->big);
    wire_u8(&names, 0);
    put_symbol(&table, elf, &(struct wire_symbol){ .name = "" }, 0);
    wire_u32(&extended, 0);
    for (size_t i = 0; i < count; i++) {
        const struct wire_symbol *s = &symbols[i];
        size_t name = s->name && *s->name ? wire_cstr(&names, s->name) : 0;
        put_symbol(&table, elf, s, name);
        wire_u32(&extended, s->by_index_table ? s->section : 0);
        has_extended = has_extended || s->by_index_table;
    }
    uint32_t strings = wire_elf_add_wire(elf, is_dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0, 0, &names);
    uint32_t section = wire_elf_add_wire(elf, is_dynamic ? ".dynsym" : ".symtab", type, 0, 0, &table);
    elf->sections[section].link = strings;
    elf->sections[section].align = elf->wide ? 8 : 4;
    elf->sections[section].entry_size = elf->wide ? SYM64_ENTRY_SIZE : SYM32_ENTRY_SIZE;
    if (has_extended) {
        uint32_t indices = wire_elf_add_wire(elf, ".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 0, &extended);
        elf->sections[indices].link = section;
    }
    wire_deinit(&names);
    wire_deinit(&table);
    wire_deinit(&extended);
    return section;
}

uint32_t wire_elf_add_relocations(struct wire_elf *elf, uint32_t type, uint32_t target, uint32_t symbols,
                                  const struct wire_relocation *relocations, size_t count) {
    struct wire w;
    wire_init(&w, elf->big);
    for (size_t i = 0; i < count; i++) {
        const struct wire_relocation *r = &relocations[i];
        put_word(&w, elf, r->off);
        put_word(&w, elf, elf->wide ? (uint64_t)r->symbol << 32 | r->type : (uint64_t)r->symbol << 8 | r->type);
        if (type == SHT_RELA) put_word(&w, elf, (uint64_t)r->addend);
    }
    char name[64];
    snprintf(name, sizeof name, "%s%s", type == SHT_RELA ? ".rela" : ".rel", elf->sections[target].name);
    uint32_t section = wire_elf_add_wire(elf, name, type, 0, 0, &w);
    elf->sections[section].link = symbols;
    elf->sections[section].info = target;
    elf->sections[section].align = elf->wide ? 8 : 4;
    wire_deinit(&w);
    return section;
}

void wire_elf_add_segment(struct wire_elf *elf, struct wire_segment segment) {
    require(elf->segment_count < WIRE_ELF_MAX_SEGMENTS, "too many segments");
    elf->segments[elf->segment_count++] = segment;
}

static void put_header(struct wire *w, const struct wire_elf *elf, const struct wire_elf_places *places,
                       uint32_t section_count) {
    bool has_sections = !elf->without_section_headers;
    uint64_t shnum = has_sections ? section_count : 0, names = has_sections ? section_count - 1 : 0;
    bool is_extended = elf->extended_numbering && has_sections;
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F' };
    wire_bytes(w, magic, sizeof magic);
    wire_u8(w, elf->wide ? ELFCLASS64 : ELFCLASS32);
    wire_u8(w, elf->big ? ELFDATA2MSB : ELFDATA2LSB);
    wire_u8(w, 1);
    wire_fill(w, 0, 9);
    wire_u16(w, elf->type);
    wire_u16(w, elf->machine);
    wire_u32(w, 1);
    put_word(w, elf, 0);
    put_word(w, elf, places->program_headers);
    put_word(w, elf, places->section_headers);
    wire_u32(w, 0);
    wire_u16(w, elf->wide ? EHDR64_SIZE : EHDR32_SIZE);
    wire_u16(w, places->program_header_size);
    wire_u16(w, is_extended && elf->segment_count ? (uint32_t)PN_XNUM : elf->segment_count);
    wire_u16(w, places->section_header_size);
    wire_u16(w, is_extended ? 0 : shnum);
    wire_u16(w, is_extended ? (uint32_t)SHN_XINDEX : names);
}

static void put_segment(struct wire *w, const struct wire_elf *elf, const struct wire_segment *p,
                        const struct wire_elf_places *places) {
    wire_u32(w, p->type);
    if (elf->wide) wire_u32(w, p->flags);
    put_word(w, elf, p->section ? places->section_off[p->section] : 0);
    put_word(w, elf, p->vaddr);
    put_word(w, elf, p->vaddr);
    put_word(w, elf, p->section ? elf->sections[p->section].bytes.size : 0);
    put_word(w, elf, p->memsz);
    if (!elf->wide) wire_u32(w, p->flags);
    put_word(w, elf, p->align);
}

static void put_section_header(struct wire *w, const struct wire_elf *elf, const struct wire_section *s, size_t name,
                               size_t off) {
    wire_u32(w, name);
    wire_u32(w, s->type);
    put_word(w, elf, s->flags);
    put_word(w, elf, s->addr);
    put_word(w, elf, off);
    put_word(w, elf, s->type == SHT_NOBITS || s->type == SHT_NULL ? s->nobits_size : s->bytes.size);
    wire_u32(w, s->link);
    wire_u32(w, s->info);
    put_word(w, elf, s->align);
    put_word(w, elf, s->entry_size);
}

void wire_elf_build(struct wire_elf *elf, struct wire *out, struct wire_elf_places *places_out) {
    struct wire_elf_places places = { 0 };
    places.program_header_size = elf->wide ? PHDR64_SIZE : PHDR32_SIZE;
    places.section_header_size = elf->wide ? SHDR64_SIZE : SHDR32_SIZE;
    uint32_t count = elf->section_count + 1; /* with the names' own */
    struct wire names;
    wire_init(&names, elf->big);
    wire_u8(&names, 0);
    size_t name_off[WIRE_ELF_MAX_SECTIONS];
    for (uint32_t i = 1; i < elf->section_count; i++) name_off[i] = wire_cstr(&names, elf->sections[i].name);
    struct wire_section name_table = { .name = ".shstrtab", .type = SHT_STRTAB, .align = 1 };
    size_t name_table_name = wire_cstr(&names, name_table.name);
    name_table.bytes = wire_span(&names);
    struct wire_section null_section = { .type = SHT_NULL };
    if (elf->extended_numbering) {
        null_section.nobits_size = count;
        null_section.link = count - 1;
        null_section.info = elf->segment_count;
    }

    /* Headers hold offsets of what stands after them: they are written as zeros first, then over again. */
    size_t header_size = elf->wide ? EHDR64_SIZE : EHDR32_SIZE;
    require(out->size == 0, "an ELF file begins at offset 0");
    wire_fill(out, 0, header_size);
    if (elf->segment_count) places.program_headers = wire_fill(out, 0, elf->segment_count * places.program_header_size);
    for (uint32_t i = 1; i < count; i++) {
        const struct wire_section *s = i + 1 < count ? &elf->sections[i] : &name_table;
        if (i + 1 == count && elf->without_section_headers) break;
        wire_align(out, s->align ? (size_t)s->align : 1);
        places.section_off[i] = wire_bytes(out, s->bytes.ptr, s->bytes.size);
    }
    if (!elf->without_section_headers) {
        wire_align(out, 8);
        places.section_headers = out->size;
        put_section_header(out, elf, &null_section, 0, 0);
        for (uint32_t i = 1; i + 1 < count; i++)
            put_section_header(out, elf, &elf->sections[i], name_off[i], places.section_off[i]);
        put_section_header(out, elf, &name_table, name_table_name, places.section_off[count - 1]);
    }
    size_t end = out->size;
    out->size = 0;
    put_header(out, elf, &places, count);
    for (uint32_t i = 0; i < elf->segment_count; i++) put_segment(out, elf, &elf->segments[i], &places);
    out->size = end;
    wire_deinit(&names);
    if (places_out) *places_out = places;
}
