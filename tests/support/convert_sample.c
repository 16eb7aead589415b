/* ELF files with DWARF, and indexes as text. */
#include "support/convert_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/inspect.h>

#include "object/elf/elf_layout.h"

enum { UNIT = 1, BARE_UNIT, FUNCTION, NAMELESS, RANGED, SEQUENCED, INLINED, INLINED_RANGED, BLOCK, CLASS, ABSTRACT,
       DECLARATION, DECLARED, VARIABLE, CALL, INDIRECT_CALL, DECLARED_PARENT };

static void write_abbrevs(struct dwarf_sample *d) {
    bool five = d->version >= 5;
    int call = five ? DW_TAG_call_site : DW_TAG_GNU_call_site;
    int return_pc = five ? DW_AT_call_return_pc : DW_AT_low_pc, origin = five ? DW_AT_call_origin : DW_AT_abstract_origin;
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_name, DW_FORM_string,
                        DW_AT_comp_dir, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_stmt_list, DW_FORM_sec_offset,
                        0);
    dwarf_sample_abbrev(d, BARE_UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_low_pc,
                        DW_FORM_addr, 0);
    dwarf_sample_abbrev(d, FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data8, 0);
    dwarf_sample_abbrev(d, NAMELESS, DW_TAG_subprogram, true, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
                        0);
    dwarf_sample_abbrev(d, RANGED, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_ranges, DW_FORM_sec_offset,
                        0);
    dwarf_sample_abbrev(d, SEQUENCED, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data8, DW_AT_LLVM_stmt_sequence, DW_FORM_sec_offset, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref4, DW_AT_low_pc,
                        DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, INLINED_RANGED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref4,
                        DW_AT_ranges, DW_FORM_sec_offset, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, BLOCK, DW_TAG_lexical_block, true, 0);
    dwarf_sample_abbrev(d, CLASS, DW_TAG_class_type, true, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(d, ABSTRACT, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, DW_AT_inline, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, DECLARATION, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_declaration,
                        DW_FORM_flag_present, 0);
    dwarf_sample_abbrev(d, DECLARED, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data8, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, DECLARED_PARENT, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data8, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, VARIABLE, DW_TAG_variable, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(d, CALL, (unsigned)call, false, return_pc, DW_FORM_addr, origin, DW_FORM_ref4, 0);
    dwarf_sample_abbrev(d, INDIRECT_CALL, (unsigned)call, false, return_pc, DW_FORM_addr, 0);
    dwarf_sample_abbrevs_end(d);
}

void convert_sample_init(struct convert_sample *s, uint16_t version, bool big) {
    memset(s, 0, sizeof *s);
    dwarf_sample_init(&s->dwarf, big);
    s->dwarf.version = version;
    write_abbrevs(&s->dwarf);
    wire_fill(&s->dwarf.ranges, 0xee, 4); /* so that no list stands at 0 */
    wire_fill(&s->dwarf.rnglists, 0xee, 4);
    wire_init(&s->file, big);
}

void convert_sample_deinit(struct convert_sample *s) {
    dwarf_sample_deinit(&s->dwarf);
    wire_deinit(&s->file);
}

/* ---- line tables ---- */

static void write_files(struct wire *w, bool five) {
    if (!five) {
        wire_cstr(w, "include");
        wire_u8(w, 0);
        wire_cstr(w, "a.c");
        wire_fill(w, 0, 3);
        wire_cstr(w, "b.h");
        wire_u8(w, 1);
        wire_fill(w, 0, 3);
        return;
    }
    wire_u8(w, 1);
    wire_uleb(w, DW_LNCT_path);
    wire_uleb(w, DW_FORM_string);
    wire_uleb(w, 2);
    wire_cstr(w, "/src");
    wire_cstr(w, "include");
    wire_u8(w, 2);
    wire_uleb(w, DW_LNCT_path);
    wire_uleb(w, DW_FORM_string);
    wire_uleb(w, DW_LNCT_directory_index);
    wire_uleb(w, DW_FORM_udata);
    static const struct { const char *name; uint8_t directory; } files[] = { { "a.c", 0 }, { "a.c", 0 }, { "b.h", 1 } };
    wire_uleb(w, 3);
    for (size_t i = 0; i < 3; i++) {
        wire_cstr(w, files[i].name);
        wire_uleb(w, files[i].directory);
    }
}

static size_t write_line_header(struct convert_sample *s) {
    struct dwarf_sample *d = &s->dwarf;
    struct wire *w = &d->line;
    size_t table = wire_begin_length(w, d->offset_size);
    wire_u16(w, d->version);
    if (d->version >= 5) {
        wire_u8(w, d->address_size);
        wire_u8(w, 0);
    }
    size_t header_length = wire_uint(w, 0, d->offset_size);
    static const uint8_t machine[] = { 1, 1, 1, (uint8_t)-5, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    wire_bytes(w, machine, sizeof machine);
    write_files(w, d->version >= 5);
    wire_patch(w, header_length, w->size - header_length - d->offset_size, d->offset_size);
    return table;
}

void convert_sample_lines(struct convert_sample *s, const struct line *lines, size_t count, uint64_t *offsets) {
    struct dwarf_sample *d = &s->dwarf;
    struct wire *w = &d->line;
    s->line_table = w->size;
    size_t table = write_line_header(s), sequences = 0;
    bool begun = false;
    uint32_t file = 1, line = 1;
    for (size_t i = 0; i < count; i++) {
        if (!begun && offsets) offsets[sequences++] = w->size;
        begun = true;
        wire_u8(w, 0);
        wire_uleb(w, 1 + d->address_size);
        wire_u8(w, DW_LNE_set_address);
        dwarf_sample_address(d, w, lines[i].addr);
        if (lines[i].file == LINE_END) {
            wire_bytes(w, (const uint8_t[]){ 0, 1, DW_LNE_end_sequence }, 3);
            begun = false;
            file = line = 1;
            continue;
        }
        if (lines[i].file != file) {
            wire_u8(w, DW_LNS_set_file);
            wire_uleb(w, file = lines[i].file);
        }
        wire_u8(w, DW_LNS_advance_line);
        wire_sleb(w, (int64_t)lines[i].line - line);
        line = lines[i].line;
        wire_u8(w, DW_LNS_copy);
    }
    wire_end_length(w, table);
}

/* ---- DIEs ---- */

static size_t begin_die(struct convert_sample *s, unsigned code) { return wire_uleb(&s->dwarf.info, code); }

static void put_name(struct convert_sample *s, const char *name) {
    dwarf_sample_offset(&s->dwarf, &s->dwarf.info, wire_cstr(&s->dwarf.str, name));
}

static void put_range(struct convert_sample *s, uint64_t low, uint64_t size) {
    dwarf_sample_address(&s->dwarf, &s->dwarf.info, low);
    wire_u64(&s->dwarf.info, size);
}

static void put_reference(struct convert_sample *s, size_t die) { wire_u32(&s->dwarf.info, (uint32_t)(die - s->unit)); }

void convert_sample_unit(struct convert_sample *s) {
    s->unit = dwarf_sample_unit(&s->dwarf);
    begin_die(s, UNIT);
    wire_u8(&s->dwarf.info, DW_LANG_C99);
    wire_cstr(&s->dwarf.info, "a.c");
    wire_cstr(&s->dwarf.info, "/src");
    dwarf_sample_address(&s->dwarf, &s->dwarf.info, 0);
    dwarf_sample_offset(&s->dwarf, &s->dwarf.info, s->line_table);
}

void convert_sample_unit_without_lines(struct convert_sample *s) {
    s->unit = dwarf_sample_unit(&s->dwarf);
    begin_die(s, BARE_UNIT);
    wire_u8(&s->dwarf.info, DW_LANG_C_plus_plus_14);
    dwarf_sample_address(&s->dwarf, &s->dwarf.info, 0);
}

void convert_sample_unit_end(struct convert_sample *s) {
    die_end(s);
    dwarf_sample_end(&s->dwarf, s->unit);
}

size_t die_end(struct convert_sample *s) { return wire_u8(&s->dwarf.info, 0); }

size_t die_function(struct convert_sample *s, const char *name, uint64_t low, uint64_t size) {
    size_t off = begin_die(s, FUNCTION);
    put_name(s, name);
    put_range(s, low, size);
    return off;
}

size_t die_nameless(struct convert_sample *s, uint64_t low, uint64_t size) {
    size_t off = begin_die(s, NAMELESS);
    put_range(s, low, size);
    return off;
}

size_t die_function_ranges(struct convert_sample *s, const char *name, uint64_t list) {
    size_t off = begin_die(s, RANGED);
    wire_cstr(&s->dwarf.info, name);
    dwarf_sample_offset(&s->dwarf, &s->dwarf.info, list);
    return off;
}

size_t die_function_sequence(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, uint64_t sequence) {
    size_t off = begin_die(s, SEQUENCED);
    wire_cstr(&s->dwarf.info, name);
    put_range(s, low, size);
    dwarf_sample_offset(&s->dwarf, &s->dwarf.info, sequence);
    return off;
}

size_t die_inlined(struct convert_sample *s, size_t origin, uint64_t low, uint64_t size, unsigned call_file,
                   unsigned call_line) {
    size_t off = begin_die(s, INLINED);
    put_reference(s, origin);
    put_range(s, low, size);
    wire_u8(&s->dwarf.info, call_file);
    wire_u8(&s->dwarf.info, call_line);
    return off;
}

size_t die_inlined_ranges(struct convert_sample *s, size_t origin, uint64_t list, unsigned call_file, unsigned call_line) {
    size_t off = begin_die(s, INLINED_RANGED);
    put_reference(s, origin);
    dwarf_sample_offset(&s->dwarf, &s->dwarf.info, list);
    wire_u8(&s->dwarf.info, call_file);
    wire_u8(&s->dwarf.info, call_line);
    return off;
}

size_t die_block(struct convert_sample *s) { return begin_die(s, BLOCK); }

static size_t named(struct convert_sample *s, unsigned code, const char *name) {
    size_t off = begin_die(s, code);
    wire_cstr(&s->dwarf.info, name);
    return off;
}

size_t die_class(struct convert_sample *s, const char *name) { return named(s, CLASS, name); }
size_t die_declaration(struct convert_sample *s, const char *name) { return named(s, DECLARATION, name); }
size_t die_variable(struct convert_sample *s, const char *name) { return named(s, VARIABLE, name); }

size_t die_abstract(struct convert_sample *s, const char *name) {
    size_t off = begin_die(s, ABSTRACT);
    put_name(s, name);
    wire_u8(&s->dwarf.info, 1);
    return off;
}

static size_t put_declared(struct convert_sample *s, unsigned kind, const char *name, uint64_t low, uint64_t size, unsigned decl_file,
                           unsigned decl_line) {
    size_t off = named(s, kind, name);
    put_range(s, low, size);
    wire_u8(&s->dwarf.info, decl_file);
    wire_u8(&s->dwarf.info, decl_line);
    return off;
}

size_t die_function_declared(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, unsigned decl_file,
                             unsigned decl_line) {
    return put_declared(s, DECLARED, name, low, size, decl_file, decl_line);
}

size_t die_parent_declared(struct convert_sample *s, const char *name, uint64_t low, uint64_t size, unsigned decl_file,
                           unsigned decl_line) {
    return put_declared(s, DECLARED_PARENT, name, low, size, decl_file, decl_line);
}

size_t die_call_site(struct convert_sample *s, size_t origin, uint64_t return_pc) {
    size_t off = begin_die(s, origin ? CALL : INDIRECT_CALL);
    dwarf_sample_address(&s->dwarf, &s->dwarf.info, return_pc);
    if (origin) put_reference(s, origin);
    return off;
}

uint64_t convert_sample_ranges(struct convert_sample *s, const uint64_t (*ranges)[2], size_t count) {
    struct dwarf_sample *d = &s->dwarf;
    bool five = d->version >= 5;
    struct wire *w = five ? &d->rnglists : &d->ranges;
    uint64_t off = w->size;
    for (size_t i = 0; i < count; i++) {
        if (five) wire_u8(w, DW_RLE_start_end);
        dwarf_sample_address(d, w, ranges[i][0]);
        dwarf_sample_address(d, w, ranges[i][1]);
    }
    if (five) {
        wire_u8(w, DW_RLE_end_of_list);
    } else {
        dwarf_sample_address(d, w, 0);
        dwarf_sample_address(d, w, 0);
    }
    return off;
}

/* ---- the file ---- */

void convert_sample_symbol(struct convert_sample *s, const char *name, uint64_t addr, uint64_t size) {
    assert_true(s->symbol_count < CONVERT_SAMPLE_SYMBOLS);
    s->symbols[s->symbol_count++] = (struct wire_symbol){ .name = name, .value = addr, .size = size, .type = STT_FUNC,
                                                          .bind = STB_GLOBAL, .section = 1 };
}

struct csni_span convert_sample_build(struct convert_sample *s) {
    struct dwarf_sample *d = &s->dwarf;
    struct wire_elf elf;
    wire_elf_init(&elf, true, d->big, ET_DYN, d->big ? EM_PPC64 : EM_X86_64);
    wire_elf_add_nobits(&elf, ".text", SHF_ALLOC | SHF_EXECINSTR, CONVERT_SAMPLE_TEXT, CONVERT_SAMPLE_TEXT_SIZE);
    struct { const char *name; struct wire *content; } sections[] = {
        { ".debug_info", &d->info }, { ".debug_abbrev", &d->abbrev }, { ".debug_line", &d->line },
        { ".debug_str", &d->str }, { ".debug_ranges", &d->ranges }, { ".debug_rnglists", &d->rnglists },
        { ".debug_addr", &d->addr },
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].content->size) wire_elf_add_wire(&elf, sections[i].name, SHT_PROGBITS, 0, 0, sections[i].content);
    if (s->symbol_count) wire_elf_add_symbols(&elf, SHT_SYMTAB, s->symbols, s->symbol_count);
    wire_deinit(&s->file);
    wire_init(&s->file, d->big);
    wire_elf_build(&elf, &s->file, NULL);
    wire_elf_deinit(&elf);
    return wire_span(&s->file);
}

static void fill_first_unit(struct convert_sample *s) {
    static const struct line lines[] = {
        { 0x1000, 1, 10 }, { 0x1004, 2, 3 }, { 0x1008, 1, 11 }, { 0x1010, 1, 12 }, { 0x1040, LINE_END, 0 },
        { 0x1100, 1, 20 }, { 0x1108, 1, 21 }, { 0x1140, LINE_END, 0 }, { 0x1200, 2, 30 }, { 0x1210, LINE_END, 0 },
    };
    static const uint64_t parts[][2] = { { 0x1100, 0x1120 }, { 0x1200, 0x1210 } };
    static const uint64_t inlined[][2] = { { 0x1104, 0x1108 }, { 0x1110, 0x1118 }, { 0x1204, 0x1208 } };
    uint64_t offsets[3];
    convert_sample_lines(s, lines, sizeof lines / sizeof *lines, offsets);
    convert_sample_unit(s);
    size_t area = die_abstract(s, "area"), scale = die_abstract(s, "scale");
    size_t total = die_function_sequence(s, "total", 0x1000, 0x40, offsets[0]);
    die_variable(s, "local");
    die_inlined(s, area, 0x1004, 0xc, 1, 11);
    die_block(s);
    die_inlined(s, scale, 0x1008, 4, 2, 3);
    die_end(s);
    die_end(s);
    die_end(s);
    die_call_site(s, total, 0x1020);
    die_call_site(s, 0, 0x1028);
    die_end(s);
    die_function_ranges(s, "split", convert_sample_ranges(s, parts, 2));
    die_inlined_ranges(s, area, convert_sample_ranges(s, inlined, 3), 1, 21);
    die_end(s);
    die_end(s);
    convert_sample_unit_end(s);
}

void convert_sample_fill(struct convert_sample *s) {
    fill_first_unit(s);
    convert_sample_unit_without_lines(s);
    die_class(s, "shape");
    die_declaration(s, "draw");
    die_function(s, "resize", 0x1300, 0x20);
    die_end(s);
    die_end(s);
    convert_sample_unit_end(s);
    static const struct line lines[] = { { 0x1500, 1, 1 }, { 0x1504, 1, 2 }, { 0x1520, LINE_END, 0 } };
    convert_sample_lines(s, lines, 3, NULL);
    convert_sample_unit(s);
    die_function(s, "late", 0x1500, 0x10);
    die_end(s);
    die_function_declared(s, "declared", 0x1600, 8, 2, 77);
    convert_sample_unit_end(s);
    convert_sample_symbol(s, "total", 0x1000, 0x40);
    convert_sample_symbol(s, "label", 0x1700, 0);
}

/* ---- indexes ---- */

struct text {
    char bytes[1 << 20];
    size_t size;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof t->bytes - t->size);
    t->size += (size_t)len;
}

static void say_place(struct text *t, const struct csn_index *index, uint32_t file, uint32_t line) {
    struct csn_str directory, base;
    assert_int_equal(csn_index_file(index, file, &directory, &base, NULL), CSN_OK);
    say(t, " %.*s:%u", (int)base.len, base.ptr, line);
}

static void say_record(struct text *t, const struct csn_index *index, const struct csn_record *record) {
    struct csn_function f;
    struct csn_row_iter rows;
    struct csn_row row;
    struct csn_inline_iter inlines;
    static struct csn_inline_node node;
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    assert_int_equal(csn_record_function(index, record, &f, NULL), CSN_OK);
    say(t, "%.*s [%llx,%llx)\n", (int)f.name.len, f.name.ptr, (unsigned long long)f.start,
        (unsigned long long)(f.start + f.size));
    assert_int_equal(csn_row_iter_init(&rows, index, record, NULL), CSN_OK);
    while (csn_row_iter_next(&rows, &row, NULL) == CSN_OK) {
        say(t, " %llx", (unsigned long long)row.addr);
        say_place(t, index, row.file, row.line);
        say(t, "\n");
    }
    assert_int_equal(csn_inline_iter_init(&inlines, index, record, NULL), CSN_OK);
    while (csn_inline_iter_next(&inlines, &node, NULL) == CSN_OK) {
        if (!node.depth) continue;
        say(t, " ");
        for (uint32_t i = 0; i < node.depth; i++) say(t, ">");
        say(t, "%.*s", (int)node.name.len, node.name.ptr);
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range;
            assert_int_equal(csn_inline_node_range(&node, k, &range, NULL), CSN_OK);
            say(t, " [%llx,%llx)", (unsigned long long)range.start, (unsigned long long)range.end);
        }
        say_place(t, index, node.call_file, node.call_line);
        say(t, "\n");
    }
    assert_int_equal(csn_call_site_iter_init(&sites, index, record, NULL), CSN_OK);
    while (csn_call_site_iter_next(&sites, &site, NULL) == CSN_OK) {
        say(t, " call +%llx", (unsigned long long)site.return_offset);
        for (uint32_t k = 0; k < site.pattern_count; k++) {
            struct csn_str pattern;
            assert_int_equal(csn_call_site_pattern(index, &site, k, &pattern, NULL), CSN_OK);
            say(t, " %.*s", (int)pattern.len, pattern.ptr);
        }
        say(t, "\n");
    }
}

static bool say_problem(void *context, const struct csn_error *err) {
    (void)context;
    print_error("problem: %s\n", err->text);
    return true;
}

static const char *text_of_index(const void *bytes, size_t size, bool with_nameless) {
    static struct text t;
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_verify_counts counts;
    t.size = 0;
    t.bytes[0] = 0;
    assert_int_equal(csn_index_open_memory(bytes, size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, say_problem, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
    csn_index_get_info(index, &info, sizeof(info));
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_record record;
        assert_int_equal(csn_index_record(index, i, &record, NULL), CSN_OK);
        struct csn_function function;
        assert_int_equal(csn_record_function(index, &record, &function, NULL), CSN_OK);
        if (function.name.len || with_nameless) say_record(&t, index, &record);
    }
    csn_index_close(index);
    return t.bytes;
}

const char *index_text(const void *bytes, size_t size) { return text_of_index(bytes, size, false); }

const char *whole_index_text(const void *bytes, size_t size) { return text_of_index(bytes, size, true); }
