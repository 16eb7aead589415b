/* Mach-O files for tests. */
#include "wire/wire_macho.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/macho/macho_layout.h"

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "wire_macho: %s\n", what);
    abort();
}

void wire_macho_init(struct wire_macho *m, bool wide, bool big, uint32_t cpu_type, uint32_t file_type) {
    memset(m, 0, sizeof *m);
    m->wide = wide;
    m->big = big;
    m->cpu_type = cpu_type;
    m->file_type = file_type;
}

static void set_name(char out[17], const char *name) {
    require(strlen(name) <= MACHO_NAME_SIZE, "name too long");
    memset(out, 0, 17);
    memcpy(out, name, strlen(name));
}

struct wire_macho_segment *wire_macho_add_segment(struct wire_macho *m, const char *name, uint64_t addr, uint64_t size,
                                                  uint32_t protection) {
    require(m->segment_count < WIRE_MACHO_MAX_SEGMENTS, "too many segments");
    struct wire_macho_segment *s = &m->segments[m->segment_count++];
    memset(s, 0, sizeof *s);
    set_name(s->name, name);
    s->addr = addr;
    s->size = s->file_size = size;
    s->max_protection = s->protection = protection;
    s->first_section = m->section_count;
    return s;
}

struct wire_macho_section *wire_macho_add(struct wire_macho *m, const char *segment_name, const char *name, uint64_t addr,
                                          uint32_t flags, struct csni_span bytes) {
    require(m->section_count < WIRE_MACHO_MAX_SECTIONS && m->segment_count, "too many sections, or no segment");
    struct wire_macho_section *s = &m->sections[m->section_count++];
    memset(s, 0, sizeof *s);
    set_name(s->segment_name, segment_name);
    set_name(s->name, name);
    s->addr = addr;
    s->size = bytes.size;
    s->bytes = bytes;
    s->flags = flags;
    m->segments[m->segment_count - 1].section_count++;
    return s;
}

/* Labels of what the load commands point to. */
struct labels {
    size_t bytes[WIRE_MACHO_MAX_SECTIONS], relocations[WIRE_MACHO_MAX_SECTIONS];
    size_t symbols, strings, string_size_at, indirect, starts, exports;
};

static void put_word(struct wire *w, const struct wire_macho *m, uint64_t value) { wire_uint(w, value, m->wide ? 8 : 4); }
static void put_offset(struct wire *w, size_t label) { wire_reference(w, label, WIRE_START, 4); }

static void put_section(struct wire_macho *m, struct wire *w, uint32_t index, const struct labels *labels) {
    const struct wire_macho_section *s = &m->sections[index];
    wire_bytes(w, s->name, MACHO_NAME_SIZE);
    wire_bytes(w, s->segment_name, MACHO_NAME_SIZE);
    put_word(w, m, s->addr);
    put_word(w, m, s->size);
    if (s->bytes.size) put_offset(w, labels->bytes[index]);
    else wire_u32(w, 0);
    wire_u32(w, s->align);
    if (s->relocation_count) put_offset(w, labels->relocations[index]);
    else wire_u32(w, 0);
    wire_u32(w, s->relocation_count);
    wire_u32(w, s->flags);
    wire_u32(w, s->reserved1);
    wire_u32(w, s->reserved2);
    if (m->wide) wire_u32(w, 0);
}

static void put_segment(struct wire_macho *m, struct wire *w, uint32_t index, const struct labels *labels) {
    const struct wire_macho_segment *s = &m->segments[index];
    uint32_t header = m->wide ? SEGMENT_COMMAND_64_SIZE : SEGMENT_COMMAND_SIZE;
    wire_u32(w, m->wide ? LC_SEGMENT_64 : LC_SEGMENT);
    wire_u32(w, header + s->section_count * (m->wide ? SECTION_64_SIZE : SECTION_SIZE));
    wire_bytes(w, s->name, MACHO_NAME_SIZE);
    put_word(w, m, s->addr);
    put_word(w, m, s->size);
    put_word(w, m, 0);
    put_word(w, m, s->file_size);
    wire_u32(w, s->max_protection);
    wire_u32(w, s->protection);
    wire_u32(w, s->section_count);
    wire_u32(w, 0);
    for (uint32_t i = 0; i < s->section_count; i++) put_section(m, w, s->first_section + i, labels);
}

static uint32_t put_commands(struct wire_macho *m, struct wire *w, struct labels *labels, struct wire_macho_places *places) {
    uint32_t count = m->segment_count;
    for (uint32_t i = 0; i < m->segment_count; i++) {
        places->segments[i] = w->size;
        put_segment(m, w, i, labels);
    }
    if (m->symbols) {
        places->symtab = wire_u32(w, LC_SYMTAB);
        wire_u32(w, SYMTAB_COMMAND_SIZE);
        put_offset(w, labels->symbols);
        wire_u32(w, m->symbol_count);
        put_offset(w, labels->strings);
        labels->string_size_at = wire_u32(w, 0);
        count++;
    }
    if (m->indirect) {
        places->dysymtab = wire_u32(w, LC_DYSYMTAB);
        wire_u32(w, DYSYMTAB_COMMAND_SIZE);
        wire_fill(w, 0, DYSYMTAB_INDIRECTSYMOFF - LOAD_COMMAND_SIZE);
        put_offset(w, labels->indirect);
        wire_u32(w, m->indirect_count);
        wire_fill(w, 0, DYSYMTAB_COMMAND_SIZE - DYSYMTAB_INDIRECTSYMOFF - 8);
        count++;
    }
    if (m->uuid) {
        wire_u32(w, LC_UUID);
        wire_u32(w, UUID_COMMAND_SIZE);
        wire_bytes(w, m->uuid, MACHO_UUID_SIZE);
        count++;
    }
    if (m->function_starts.size) {
        wire_u32(w, LC_FUNCTION_STARTS);
        wire_u32(w, LINKEDIT_DATA_COMMAND_SIZE);
        put_offset(w, labels->starts);
        wire_u32(w, m->function_starts.size);
        count++;
    }
    if (m->exports.size) {
        wire_u32(w, m->exports_in_dyld_info ? LC_DYLD_INFO_ONLY : LC_DYLD_EXPORTS_TRIE);
        wire_u32(w, m->exports_in_dyld_info ? DYLD_INFO_COMMAND_SIZE : LINKEDIT_DATA_COMMAND_SIZE);
        if (m->exports_in_dyld_info) wire_fill(w, 0, DYLD_INFO_EXPORT_OFF - LOAD_COMMAND_SIZE);
        put_offset(w, labels->exports);
        wire_u32(w, m->exports.size);
        count++;
    }
    return count;
}

static void put_relocation(const struct wire_macho *m, struct wire *w, const struct wire_macho_relocation *r) {
    wire_u32(w, r->off | (r->is_scattered ? R_SCATTERED : 0));
    uint32_t little = r->symbol | (uint32_t)r->pc_relative << 24 | (uint32_t)r->length << 25 | (uint32_t)r->is_extern << 27 |
                      (uint32_t)r->type << 28;
    uint32_t big = r->symbol << 8 | (uint32_t)r->pc_relative << 7 | (uint32_t)r->length << 5 | (uint32_t)r->is_extern << 4 |
                   r->type;
    wire_u32(w, m->big ? big : little);
}

static void put_symbols(const struct wire_macho *m, struct wire *w, const struct labels *labels) {
    struct wire names;
    wire_init(&names, m->big);
    wire_u8(&names, 0);
    wire_align(w, 8);
    wire_place(w, labels->symbols);
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct wire_macho_symbol *s = &m->symbols[i];
        wire_u32(w, *s->name ? wire_cstr(&names, s->name) : 0);
        wire_u8(w, s->type);
        wire_u8(w, s->section);
        wire_u16(w, s->desc);
        put_word(w, m, s->value);
    }
    wire_place(w, labels->strings);
    if (m->symbols) wire_patch(w, labels->string_size_at, names.size, 4);
    wire_append(w, &names);
    wire_deinit(&names);
}

static void put_contents(struct wire_macho *m, struct wire *w, const struct labels *labels) {
    for (uint32_t i = 0; i < m->section_count; i++) {
        wire_align(w, 8);
        wire_place(w, labels->bytes[i]);
        wire_bytes(w, m->sections[i].bytes.ptr, m->sections[i].bytes.size);
        wire_place(w, labels->relocations[i]);
        for (uint32_t k = 0; k < m->sections[i].relocation_count; k++) put_relocation(m, w, &m->sections[i].relocations[k]);
    }
    wire_place(w, labels->indirect);
    for (uint32_t i = 0; i < m->indirect_count; i++) wire_u32(w, m->indirect[i]);
    wire_place(w, labels->starts);
    wire_bytes(w, m->function_starts.ptr, m->function_starts.size);
    wire_place(w, labels->exports);
    wire_bytes(w, m->exports.ptr, m->exports.size);
    put_symbols(m, w, labels);
}

void wire_macho_build(struct wire_macho *m, struct wire *out, struct wire_macho_places *places) {
    struct wire_macho_places own;
    if (!places) places = &own;
    struct labels labels = { .symbols = wire_label(out), .strings = wire_label(out), .indirect = wire_label(out),
                             .starts = wire_label(out), .exports = wire_label(out) };
    for (uint32_t i = 0; i < m->section_count; i++) {
        labels.bytes[i] = wire_label(out);
        labels.relocations[i] = wire_label(out);
    }
    wire_u32(out, m->wide ? MH_MAGIC_64 : MH_MAGIC);
    wire_u32(out, m->cpu_type);
    wire_u32(out, m->cpu_subtype);
    wire_u32(out, m->file_type);
    size_t count_at = wire_u32(out, 0), size_at = wire_u32(out, 0);
    wire_u32(out, m->flags);
    if (m->wide) wire_u32(out, 0);
    places->commands = out->size;
    wire_patch(out, count_at, put_commands(m, out, &labels, places), 4);
    places->commands_end = out->size;
    wire_patch(out, size_at, places->commands_end - places->commands, 4);
    put_contents(m, out, &labels);
}

void wire_macho_universal(struct wire *out, bool wide, const struct wire_macho_slice *slices, uint32_t count) {
    enum { ALIGN = 4 };
    wire_u32(out, wide ? FAT_MAGIC_64 : FAT_MAGIC);
    wire_u32(out, count);
    size_t labels[8];
    require(count <= 8, "too many slices");
    for (uint32_t i = 0; i < count; i++) {
        labels[i] = wire_label(out);
        wire_u32(out, slices[i].cpu_type);
        wire_u32(out, slices[i].cpu_subtype);
        wire_reference(out, labels[i], WIRE_START, wide ? 8 : 4);
        wire_uint(out, slices[i].file.size, wide ? 8 : 4);
        wire_u32(out, ALIGN);
        if (wide) wire_u32(out, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        wire_align(out, 1u << ALIGN);
        wire_place(out, labels[i]);
        wire_bytes(out, slices[i].file.ptr, slices[i].file.size);
    }
}
