/* Split DWARF for tests. */
#include "support/split_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/endian.h"
#include "object/elf/elf_layout.h"

enum { UNIT = 1, NAMESPACE, STUB, DECLARATION, FUNCTION, MEMBER, ABSTRACT, INLINED, TYPE_UNIT, TYPE };
enum { NS, T, F, M, IN, STRINGS };

static uint64_t base_of(unsigned u) { return 0x1000 + 0x400 * (uint64_t)u; }
static uint64_t signature_of(unsigned u) { return 0xabcdef0100000000u + u; }

/* ---- .dwo files ---- */

static void write_abbrevs(struct split_sample *s, unsigned u) {
    struct dwarf_sample *d = &s->dwo[u];
    bool five = s->version >= 5;
    int str = five ? DW_FORM_strx : DW_FORM_GNU_str_index, addr = five ? DW_FORM_addrx : DW_FORM_GNU_addr_index;
    int ranges = five ? DW_FORM_rnglistx : DW_FORM_sec_offset;
    if (u) dwarf_sample_abbrev(d, 1, DW_TAG_variable, false, DW_AT_name, DW_FORM_data1, 0);
    if (five) dwarf_sample_abbrev(d, UNIT + u, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, 0);
    else
        dwarf_sample_abbrev(d, UNIT + u, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_GNU_dwo_id,
                            DW_FORM_data8, 0);
    dwarf_sample_abbrev(d, NAMESPACE + u, DW_TAG_namespace, true, DW_AT_name, str, 0);
    dwarf_sample_abbrev(d, STUB + u, DW_TAG_structure_type, true, DW_AT_declaration, DW_FORM_flag_present,
                        DW_AT_signature, DW_FORM_ref_sig8, 0);
    dwarf_sample_abbrev(d, DECLARATION + u, DW_TAG_subprogram, false, DW_AT_name, str, DW_AT_declaration,
                        DW_FORM_flag_present, 0);
    dwarf_sample_abbrev(d, FUNCTION + u, DW_TAG_subprogram, true, DW_AT_name, str, DW_AT_low_pc, addr, DW_AT_high_pc,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, MEMBER + u, DW_TAG_subprogram, false, DW_AT_specification, DW_FORM_ref4, DW_AT_ranges, ranges, 0);
    dwarf_sample_abbrev(d, ABSTRACT + u, DW_TAG_subprogram, false, DW_AT_name, str, DW_AT_inline, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, INLINED + u, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, DW_FORM_ref4,
                        DW_AT_low_pc, addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, TYPE_UNIT + u, DW_TAG_type_unit, true, DW_AT_language, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, TYPE + u, DW_TAG_structure_type, false, DW_AT_name, str, 0);
    dwarf_sample_abbrevs_end(d);
}

static void write_strings(struct split_sample *s, unsigned u) {
    struct dwarf_sample *d = &s->dwo[u];
    static const char *const names[STRINGS] = { "ns", "T", "f", "m", "in" };
    size_t header = s->version >= 5 ? wire_begin_length(&d->str_offsets, 4) : 0;
    if (s->version >= 5) wire_u32(&d->str_offsets, s->big ? 5 << 16 : 5);
    if (u) wire_u32(&d->str_offsets, wire_cstr(&d->str, "another"));
    for (unsigned i = 0; i < STRINGS; i++) {
        char name[8];
        snprintf(name, sizeof name, i == NS ? "%s" : "%s%u", names[i], u);
        wire_u32(&d->str_offsets, wire_cstr(&d->str, name));
    }
    if (s->version >= 5) wire_end_length(&d->str_offsets, header);
}

static void name(struct wire *w, unsigned u, unsigned string) { wire_uleb(w, string + u); }

static void write_type_unit(struct split_sample *s, unsigned u) {
    struct dwarf_sample *d = &s->dwo[u];
    struct wire *w = s->version >= 5 ? &d->info : &d->types;
    s->type[u].off = w->size;
    size_t unit = wire_begin_length(w, 4);
    wire_u16(w, s->version);
    if (s->version >= 5) {
        wire_u8(w, DW_UT_split_type);
        wire_u8(w, s->dwo_address_size);
        wire_u32(w, 0);
    } else {
        wire_u32(w, 0);
        wire_u8(w, s->dwo_address_size);
    }
    wire_u64(w, signature_of(u));
    size_t type_off = wire_u32(w, 0);
    wire_uleb(w, TYPE_UNIT + u);
    wire_u8(w, DW_LANG_C_plus_plus_14);
    wire_uleb(w, NAMESPACE + u);
    name(w, u, NS);
    wire_patch(w, type_off, w->size - s->type[u].off, 4);
    wire_uleb(w, TYPE + u);
    name(w, u, T);
    wire_u16(w, 0);
    wire_end_length(w, unit);
    s->type[u].size = w->size - s->type[u].off;
}

static void write_dies(struct split_sample *s, unsigned u) {
    struct wire *w = &s->dwo[u].info;
    size_t begin = s->code[u].off;
    wire_uleb(w, NAMESPACE + u);
    name(w, u, NS);
    wire_uleb(w, STUB + u);
    wire_u64(w, signature_of(u));
    size_t declared = wire_uleb(w, DECLARATION + u);
    name(w, u, M);
    wire_u8(w, 0);
    size_t inlined = wire_uleb(w, ABSTRACT + u);
    name(w, u, IN);
    wire_u8(w, 1);
    wire_uleb(w, FUNCTION + u);
    name(w, u, F);
    wire_uleb(w, 0);
    wire_u8(w, 0x40);
    wire_uleb(w, INLINED + u);
    wire_u32(w, inlined - begin);
    wire_uleb(w, 1);
    wire_u8(w, 8);
    wire_u8(w, 1);
    wire_u8(w, 7);
    wire_u16(w, 0); /* of the function, of the namespace */
    for (unsigned i = 0; i <= s->more_members[u]; i++) {
        wire_uleb(w, MEMBER + u);
        wire_u32(w, declared - begin);
        if (s->version >= 5) wire_uleb(w, 0);
        else wire_u32(w, 16); /* after DW_AT_GNU_ranges_base */
    }
    wire_u8(w, 0);
}

static void write_unit(struct split_sample *s, unsigned u) {
    struct wire *w = &s->dwo[u].info;
    s->code[u].off = w->size;
    size_t unit = wire_begin_length(w, 4);
    wire_u16(w, s->version);
    if (s->version >= 5) {
        wire_u8(w, DW_UT_split_compile);
        wire_u8(w, s->dwo_address_size);
        wire_u32(w, 0);
        wire_u64(w, s->ids[u]);
    } else {
        wire_u32(w, 0);
        wire_u8(w, s->dwo_address_size);
    }
    wire_uleb(w, UNIT + u);
    wire_u8(w, DW_LANG_C_plus_plus_14);
    if (s->version < 5) wire_u64(w, s->ids[u]);
    write_dies(s, u);
    wire_end_length(w, unit);
    s->code[u].size = w->size - s->code[u].off;
}

static void write_rnglists(struct wire *w, unsigned more) {
    size_t list = wire_begin_length(w, 4);
    wire_u16(w, 5);
    wire_u8(w, 8);
    wire_u8(w, 0);
    wire_u32(w, 1);
    wire_u32(w, 4);
    wire_u8(w, DW_RLE_startx_length);
    wire_uleb(w, 2);
    wire_uleb(w, 0x10);
    wire_u8(w, DW_RLE_base_addressx);
    wire_uleb(w, 2);
    wire_u8(w, DW_RLE_offset_pair);
    wire_uleb(w, 0x18);
    wire_uleb(w, 0x20);
    for (unsigned i = 0; i < more; i++) {
        wire_u8(w, DW_RLE_offset_pair);
        wire_uleb(w, 0x18);
        wire_uleb(w, 0x19);
    }
    wire_u8(w, DW_RLE_end_of_list);
    wire_end_length(w, list);
}

static void make_dwo(struct split_sample *s, unsigned u) {
    dwarf_sample_deinit(&s->dwo[u]);
    dwarf_sample_init(&s->dwo[u], s->big);
    write_abbrevs(s, u);
    write_strings(s, u);
    write_type_unit(s, u);
    write_unit(s, u);
    if (s->version >= 5) write_rnglists(&s->dwo[u].rnglists, s->more_ranges[u]);
    wire_fill(&s->dwo[u].str, 0, s->padding[u]);
}

static struct csni_span build(struct split_sample *s, struct dwarf_sample *d, struct wire *cu_index, struct wire *tu_index,
                              struct wire *out) {
    struct wire_elf elf;
    wire_elf_init(&elf, true, s->big, ET_REL, s->big ? EM_PPC64 : EM_X86_64);
    struct { const char *name; struct wire *content; } sections[] = {
        { ".debug_info.dwo", &d->info }, { ".debug_types.dwo", &d->types }, { ".debug_abbrev.dwo", &d->abbrev },
        { ".debug_str.dwo", &d->str }, { ".debug_str_offsets.dwo", &d->str_offsets },
        { ".debug_rnglists.dwo", &d->rnglists }, { ".debug_cu_index", cu_index }, { ".debug_tu_index", tu_index },
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].content && sections[i].content->size)
            wire_elf_add_wire(&elf, sections[i].name, SHT_PROGBITS, 0, 0, sections[i].content);
    wire_deinit(out);
    wire_init(out, s->big);
    wire_elf_build(&elf, out, NULL);
    wire_elf_deinit(&elf);
    return wire_span(out);
}

struct csni_span split_sample_dwo(struct split_sample *s, unsigned u) {
    make_dwo(s, u);
    return build(s, &s->dwo[u], NULL, NULL, &s->files[u]);
}

/* ---- packages ---- */

enum { COLUMNS = 4 };

/* One row: offset and size in the section of each column. */
struct row {
    uint64_t signature;
    struct split_part parts[COLUMNS];
};

static void write_index(struct wire *w, uint16_t version, bool of_types, const struct row *rows, unsigned count) {
    enum { SLOTS = 4 };
    uint32_t slots[SLOTS] = { 0 };
    if (version >= 5) {
        wire_u16(w, 5);
        wire_u16(w, 0);
    } else {
        wire_u32(w, 2);
    }
    wire_u32(w, COLUMNS);
    wire_u32(w, count);
    wire_u32(w, SLOTS);
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = rows[i].signature & (SLOTS - 1), step = (rows[i].signature >> 32 & (SLOTS - 1)) | 1;
        while (slots[at]) at = (at + step) & (SLOTS - 1);
        slots[at] = i + 1;
    }
    for (unsigned i = 0; i < SLOTS; i++) wire_u64(w, slots[i] ? rows[slots[i] - 1].signature : 0);
    for (unsigned i = 0; i < SLOTS; i++) wire_u32(w, slots[i]);
    wire_u32(w, of_types && version < 5 ? 2 : 1); /* DW_SECT_TYPES, DW_SECT_INFO */
    wire_u32(w, 3);                               /* DW_SECT_ABBREV */
    wire_u32(w, 6);                               /* DW_SECT_STR_OFFSETS */
    wire_u32(w, version >= 5 ? 8 : 5);            /* DW_SECT_RNGLISTS; DW_SECT_LOC */
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < COLUMNS; k++) wire_u32(w, rows[i].parts[k].off);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < COLUMNS; k++) wire_u32(w, rows[i].parts[k].size);
}

static struct split_part append(struct wire *w, struct wire *part) {
    size_t size = part->size;
    return (struct split_part){ wire_append(w, part), size };
}

/* Adds unit u to the package; offsets of its strings move with them. */
static void pack(struct split_sample *s, struct dwarf_sample *to, unsigned u, struct row *code, struct row *type) {
    struct dwarf_sample *d = &s->dwo[u];
    make_dwo(s, u);
    size_t first = s->version >= 5 ? 8 : 0;
    for (size_t off = first; off < d->str_offsets.size; off += 4)
        wire_patch(&d->str_offsets, off,
                   csni_get_sized(d->str_offsets.bytes + off, 4, s->big) + to->str.size, 4);
    wire_append(&to->str, &d->str);
    struct split_part info = append(&to->info, &d->info), types = append(&to->types, &d->types);
    *code = (struct row){ .signature = s->ids[u] };
    code->parts[0] = (struct split_part){ info.off + s->code[u].off, s->code[u].size };
    code->parts[1] = append(&to->abbrev, &d->abbrev);
    code->parts[2] = append(&to->str_offsets, &d->str_offsets);
    code->parts[3] = append(&to->rnglists, &d->rnglists);
    *type = *code;
    type->signature = signature_of(u);
    type->parts[0] = (struct split_part){ (s->version >= 5 ? info.off : types.off) + s->type[u].off, s->type[u].size };
}

struct csni_span split_sample_package(struct split_sample *s, unsigned first, unsigned count) {
    struct dwarf_sample to;
    struct row code[SPLIT_SAMPLE_UNITS], type[SPLIT_SAMPLE_UNITS];
    struct wire cu_index, tu_index;
    dwarf_sample_init(&to, s->big);
    wire_init(&cu_index, s->big);
    wire_init(&tu_index, s->big);
    for (unsigned u = first; u < first + count; u++) pack(s, &to, u, &code[u - first], &type[u - first]);
    write_index(&cu_index, s->version, false, code, count);
    write_index(&tu_index, s->version, true, type, count);
    struct csni_span file = build(s, &to, &cu_index, &tu_index, &s->packages[first]);
    wire_deinit(&cu_index);
    wire_deinit(&tu_index);
    dwarf_sample_deinit(&to);
    return file;
}

/* ---- the image ---- */

static void write_code(struct split_sample *s, unsigned u, uint64_t *addr_base, uint64_t *ranges_base) {
    struct dwarf_sample *d = &s->image.dwarf;
    uint64_t base = base_of(u);
    const struct line lines[] = {
        { base, 1, 10 + u }, { base + 8, 2, 3 }, { base + 0x10, 1, 11 + u }, { base + 0x40, LINE_END, 0 },
        { base + 0x100, 1, 20 + u }, { base + 0x120, LINE_END, 0 },
    };
    convert_sample_lines(&s->image, lines, sizeof lines / sizeof *lines, NULL);
    size_t length = s->version >= 5 ? wire_begin_length(&d->addr, 4) : 0;
    if (s->version >= 5) {
        wire_u16(&d->addr, 5);
        wire_u8(&d->addr, 8);
        wire_u8(&d->addr, 0);
    }
    *addr_base = wire_u64(&d->addr, base);
    wire_u64(&d->addr, base + 8);
    wire_u64(&d->addr, base + 0x100);
    if (s->version >= 5) wire_end_length(&d->addr, length);
    *ranges_base = wire_fill(&d->ranges, 0x11, 16);
    static const uint64_t parts[] = { 0x100, 0x110, 0x118, 0x120 };
    for (size_t i = 0; i < 4; i++) wire_u64(&d->ranges, base + parts[i]);
    wire_fill(&d->ranges, 0, 16);
    static const char *const f[] = { "symbol_f0", "symbol_f1" }, *const m[] = { "symbol_m0", "symbol_m1" };
    convert_sample_symbol(&s->image, f[u], base, 0x40);
    convert_sample_symbol(&s->image, m[u], base + 0x100, 0x20);
}

static void write_skeleton(struct split_sample *s, unsigned u, uint64_t id) {
    struct wire *w = &s->image.dwarf.info;
    uint64_t addr_base, ranges_base;
    write_code(s, u, &addr_base, &ranges_base);
    size_t unit = wire_begin_length(w, 4);
    wire_u16(w, s->version);
    if (s->version >= 5) {
        wire_u8(w, DW_UT_skeleton);
        wire_u8(w, 8);
        wire_u32(w, s->image.dwarf.abbrev_off);
        wire_u64(w, id);
    } else {
        wire_u32(w, s->image.dwarf.abbrev_off);
        wire_u8(w, 8);
    }
    wire_uleb(w, 1);
    wire_u32(w, s->image.line_table);
    wire_cstr(w, u ? "1.dwo" : "0.dwo");
    wire_cstr(w, "/src");
    wire_u32(w, addr_base);
    if (s->version < 5) {
        wire_u64(w, id);
        wire_u32(w, ranges_base);
    }
    wire_end_length(w, unit);
}

struct csni_span split_sample_image(struct split_sample *s, const uint64_t skeleton_ids[SPLIT_SAMPLE_UNITS]) {
    convert_sample_deinit(&s->image);
    convert_sample_init(&s->image, s->version, s->big);
    struct dwarf_sample *d = &s->image.dwarf;
    d->abbrev_off = d->abbrev.size;
    if (s->version >= 5)
        dwarf_sample_abbrev(d, 1, DW_TAG_skeleton_unit, false, DW_AT_stmt_list, DW_FORM_sec_offset, DW_AT_dwo_name,
                            DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, DW_AT_addr_base, DW_FORM_sec_offset, 0);
    else
        dwarf_sample_abbrev(d, 1, DW_TAG_compile_unit, false, DW_AT_stmt_list, DW_FORM_sec_offset, DW_AT_GNU_dwo_name,
                            DW_FORM_string, DW_AT_comp_dir, DW_FORM_string, DW_AT_GNU_addr_base, DW_FORM_sec_offset,
                            DW_AT_GNU_dwo_id, DW_FORM_data8, DW_AT_GNU_ranges_base, DW_FORM_sec_offset, 0);
    dwarf_sample_abbrevs_end(d);
    for (unsigned u = 0; u < SPLIT_SAMPLE_UNITS; u++) write_skeleton(s, u, skeleton_ids[u]);
    return convert_sample_build(&s->image);
}

void split_sample_init(struct split_sample *s, uint16_t version, bool big) {
    memset(s, 0, sizeof *s);
    s->version = version;
    s->big = big;
    s->dwo_address_size = 8;
    s->ids[0] = 0x1111222233334444;
    s->ids[1] = 0x5555666677778888; /* the same slot of the hash table */
}

void split_sample_deinit(struct split_sample *s) {
    convert_sample_deinit(&s->image);
    for (unsigned u = 0; u < SPLIT_SAMPLE_UNITS; u++) {
        dwarf_sample_deinit(&s->dwo[u]);
        wire_deinit(&s->files[u]);
        wire_deinit(&s->packages[u]);
    }
}

/* ---- the resolver ---- */

/* Gives a copy of exactly that size, so that a sanitizer sees every read past it, or after it was released. */
static csn_status give(struct split_files *files, struct csni_span file, const char *path, struct csn_companion *out) {
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    memcpy(copy, file.ptr, file.size);
    out->bytes = copy;
    out->size = file.size;
    out->path = path;
    out->context = files;
    files->open++;
    return CSN_OK;
}

static void release(struct csn_companion *companion) {
    struct split_files *files = companion->context;
    files->open--;
    free((void *)(uintptr_t)companion->bytes);
}

csn_status split_files_resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                               struct csn_error *err) {
    (void)err;
    static const char *const paths[] = { "/src/0.dwo", "/src/1.dwo" }, *const package_paths[] = { "0.dwp", "1.dwp" };
    struct split_files *files = context;
    if (request->kind != CSN_COMPANION_DWP && request->kind != CSN_COMPANION_DWO) return CSN_NONE;
    files->asked++;
    out->release = release;
    if (request->kind == CSN_COMPANION_DWP) {
        uint32_t idx = files->skips_none ? 0 : request->skip;
        bool there = idx < SPLIT_SAMPLE_UNITS && files->packages[idx].size;
        return there ? give(files, files->packages[idx], package_paths[idx], out) : CSN_NONE;
    }
    assert_string_equal(request->directory, "/src");
    assert_string_equal(request->name + 1, ".dwo");
    unsigned u = request->name[0] == '1';
    return files->dwo[u].size && !request->skip ? give(files, files->dwo[u], paths[u], out) : CSN_NONE;
}
