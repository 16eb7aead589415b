/* convert/: input made to crash a converter, or to keep it busy forever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "support/convert_sample.h"
#include "support/model_sample.h"
#include "object/elf/elf_layout.h"

static struct csn_convert_report report;
static struct csn_error err;

static csn_status convert(struct csni_span file, struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 1;
    err = (struct csn_error)CSN_ERROR_INIT;
    return csn_convert_memory(file.ptr, file.size, &options, out, &report, &err);
}

static void expect(struct csni_span file, const char *text, const char *events) {
    struct csn_bytes out;
    if (convert(file, &out) != CSN_OK) fail_msg("%s", err.text);
    assert_string_equal(index_text(out.ptr, out.size), text);
    assert_string_equal(model_sample_events(&report), events);
    csn_bytes_free(&out);
}

/* ---- DWARF with abbreviations of a test's own ---- */

/* An ELF file of the sections that are not empty; text is [0x1000, 0x2000), or [0, 0x1000) of a relocatable object, whose
 * debug sections have relocations, so that the reader has copies of them. */
static struct csni_span build(struct dwarf_sample *d, struct wire *file, bool relocatable) {
    struct wire_elf elf;
    wire_elf_init(&elf, true, d->big, relocatable ? ET_REL : ET_DYN, EM_X86_64);
    wire_elf_add_nobits(&elf, ".text", SHF_ALLOC | SHF_EXECINSTR, relocatable ? 0 : 0x1000, 0x1000);
    const struct wire_symbol symbol = { .name = "nothing", .type = STT_OBJECT, .section = 1 };
    uint32_t symbols = wire_elf_add_symbols(&elf, SHT_SYMTAB, &symbol, 1);
    struct { const char *name; struct wire *content; } sections[] = {
        { ".debug_info", &d->info }, { ".debug_types", &d->types }, { ".debug_abbrev", &d->abbrev },
        { ".debug_line", &d->line }, { ".debug_str", &d->str }, { ".debug_rnglists", &d->rnglists },
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!sections[i].content->size) continue;
        uint32_t section = wire_elf_add_wire(&elf, sections[i].name, SHT_PROGBITS, 0, 0, sections[i].content);
        const struct wire_relocation none = { .type = 0, .symbol = 1 };
        if (relocatable) wire_elf_add_relocations(&elf, SHT_RELA, section, symbols, &none, 1);
    }
    wire_init(file, d->big);
    wire_elf_build(&elf, file, NULL);
    wire_elf_deinit(&elf);
    return wire_span(file);
}

enum { UNIT = 1, FUNCTION, RANGED, INLINED, SKELETON };

static void begin(struct dwarf_sample *d, uint16_t version) {
    dwarf_sample_init(d, false);
    d->version = version;
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, RANGED, DW_TAG_subprogram, false, DW_AT_ranges, DW_FORM_sec_offset, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref_addr,
                        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, SKELETON, DW_TAG_skeleton_unit, false, DW_AT_dwo_name, DW_FORM_string, 0);
    dwarf_sample_abbrevs_end(d);
}

static void unit_die(struct wire *w) {
    wire_uleb(w, UNIT);
    wire_u8(w, DW_LANG_C99);
}

static void function_die(struct wire *w, const char *name, uint64_t low, unsigned size) {
    wire_uleb(w, FUNCTION);
    wire_cstr(w, name);
    wire_u64(w, low);
    wire_u8(w, size);
}

static void finish(struct dwarf_sample *d, struct wire *file) {
    wire_deinit(file);
    dwarf_sample_deinit(d);
}

/* ---- references ---- */

/* The origin of an inlined call is in no unit: the call has no name. */
static void origin_in_no_unit(void **state) {
    (void)state;
    struct convert_sample s;
    convert_sample_init(&s, 5, false);
    static const struct line lines[] = { { 0x1000, 1, 7 }, { 0x1010, LINE_END, 0 } };
    convert_sample_lines(&s, lines, 2, NULL);
    struct dwarf_sample *d = &s.dwarf;
    wire_deinit(&d->abbrev);
    wire_init(&d->abbrev, false);
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_stmt_list,
                        DW_FORM_sec_offset, 0);
    dwarf_sample_abbrev(d, FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, DW_FORM_ref_addr,
                        DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, 0);
    dwarf_sample_abbrevs_end(d);
    size_t unit = dwarf_sample_unit(d);
    unit_die(&d->info);
    wire_u32(&d->info, (uint32_t)s.line_table);
    function_die(&d->info, "f", 0x1000, 0x10);
    wire_uleb(&d->info, INLINED);
    wire_u32(&d->info, 0x7fffffff);
    wire_u64(&d->info, 0x1004);
    wire_u8(&d->info, 4);
    wire_u8(&d->info, 1);
    wire_fill(&d->info, 0, 2);
    dwarf_sample_end(d, unit);
    expect(convert_sample_build(&s), "f [1000,1010)\n 1000 a.c:7\n > [1004,1008) a.c:0\n", "");
    convert_sample_deinit(&s);
}

/* A unit of code in .debug_types: its names are views into that section. */
static void names_in_types(void **state) {
    (void)state;
    struct dwarf_sample d;
    struct wire file;
    begin(&d, 4);
    size_t unit = wire_begin_length(&d.types, 4);
    wire_u16(&d.types, 4);
    wire_u32(&d.types, 0);
    wire_u8(&d.types, 8);
    wire_u64(&d.types, 1);
    wire_u32(&d.types, 23);
    unit_die(&d.types);
    function_die(&d.types, "a_name_that_is_long_enough", 0, 0x10);
    wire_fill(&d.types, 0, 2);
    wire_end_length(&d.types, unit);
    expect(build(&d, &file, true), "a_name_that_is_long_enough [0,10)\n", "");
    finish(&d, &file);
}

/* ---- more work than the input is worth ---- */

/* 3000 ranges at offset 4. */
static void write_long_list(struct wire *rnglists) {
    wire_fill(rnglists, 0, 4);
    for (unsigned i = 0; i < 3000; i++) {
        wire_u8(rnglists, DW_RLE_offset_pair);
        wire_uleb(rnglists, 0x1000);
        wire_uleb(rnglists, 0x1001);
    }
    wire_u8(rnglists, DW_RLE_end_of_list);
}

/* Many functions name one list of many ranges. */
static void shared_list_of_ranges(void **state) {
    (void)state;
    struct dwarf_sample d;
    struct wire file;
    struct csn_bytes out;
    begin(&d, 5);
    write_long_list(&d.rnglists);
    size_t unit = dwarf_sample_unit(&d);
    unit_die(&d.info);
    for (unsigned i = 0; i < 3000; i++) {
        wire_uleb(&d.info, RANGED);
        wire_u32(&d.info, 4);
    }
    wire_u8(&d.info, 0);
    dwarf_sample_end(&d, unit);
    assert_int_equal(convert(build(&d, &file, false), &out), CSN_E_LIMIT);
    assert_non_null(strstr(err.text, "the limit for debug information of this size"));
    finish(&d, &file);
}

/* The limit holds for all units together, whatever the number of threads. */
static void shared_list_of_many_units(void **state) {
    (void)state;
    struct dwarf_sample d;
    struct wire file;
    struct csn_bytes out;
    begin(&d, 5);
    write_long_list(&d.rnglists);
    for (unsigned i = 0; i < 3000; i++) {
        size_t unit = dwarf_sample_unit(&d);
        unit_die(&d.info);
        wire_uleb(&d.info, RANGED);
        wire_u32(&d.info, 4);
        wire_u8(&d.info, 0);
        dwarf_sample_end(&d, unit);
    }
    struct csni_span bytes = build(&d, &file, false);
    char text[2][256];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        options.threads = threads;
        err = (struct csn_error)CSN_ERROR_INIT;
        assert_int_equal(csn_convert_memory(bytes.ptr, bytes.size, &options, &out, &report, &err), CSN_E_LIMIT);
        snprintf(text[threads - 1], sizeof text[0], "%s", err.text);
    }
    assert_string_equal(text[0], text[1]);
    finish(&d, &file);
}

/* Many functions lie on one run of rows. */
static void shared_rows(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static struct line lines[COUNT + 1];
    struct convert_sample s;
    struct csn_bytes out;
    convert_sample_init(&s, 5, false);
    for (uint32_t i = 0; i < COUNT; i++) lines[i] = (struct line){ 0x1000 + i, 1, i };
    lines[COUNT] = (struct line){ 0x1000 + COUNT, LINE_END, 0 };
    convert_sample_lines(&s, lines, COUNT + 1, NULL);
    convert_sample_unit(&s);
    for (unsigned i = 0; i < COUNT; i++) {
        die_function(&s, "f", 0x1000, COUNT);
        die_end(&s);
    }
    convert_sample_unit_end(&s);
    assert_int_equal(convert(convert_sample_build(&s), &out), CSN_E_LIMIT);
    convert_sample_deinit(&s);
}

/* A function in many parts, with many inlined calls in each: looking at every call for every part takes too long. */
static void parts_times_inlined_calls(void **state) {
    (void)state;
    enum { COUNT = 10000 };
    static uint64_t parts[COUNT][2];
    struct convert_sample s;
    struct csn_bytes out;
    static const struct line lines[] = { { 0x1000, 1, 1 }, { 0x2000, LINE_END, 0 } };
    convert_sample_init(&s, 5, false);
    convert_sample_lines(&s, lines, 2, NULL);
    convert_sample_unit(&s);
    size_t callee = die_abstract(&s, "g");
    for (unsigned i = 0; i < COUNT; i++) parts[i][0] = 0x1000 + i % 0xfff, parts[i][1] = parts[i][0] + 1;
    die_function_ranges(&s, "f", convert_sample_ranges(&s, parts, COUNT));
    for (unsigned i = 0; i < COUNT; i++) {
        die_inlined(&s, callee, 0x1000, 1, 1, 1);
        die_end(&s);
    }
    die_end(&s);
    convert_sample_unit_end(&s);
    assert_int_equal(convert(convert_sample_build(&s), &out), CSN_E_LIMIT);
    convert_sample_deinit(&s);
}

/* Inlined calls outside of any function, and within one that is left out, nest as deep as they like. */
static void nests_that_are_left_out(void **state) {
    (void)state;
    enum { DEPTH = 20000 };
    struct dwarf_sample d;
    struct wire file;
    begin(&d, 5);
    size_t unit = dwarf_sample_unit(&d);
    unit_die(&d.info);
    for (unsigned i = 0; i < DEPTH; i++) {
        wire_uleb(&d.info, INLINED);
        wire_u32(&d.info, 0);
        wire_u64(&d.info, 0x1000);
        wire_u8(&d.info, 4);
        wire_u8(&d.info, 0);
    }
    wire_fill(&d.info, 0, DEPTH);
    function_die(&d.info, "f", 0x1000, 0x10);
    wire_fill(&d.info, 0, 2);
    dwarf_sample_end(&d, unit);
    expect(build(&d, &file, false), "f [1000,1010)\n", "");
    finish(&d, &file);
}

/* ---- names and texts ---- */

/* An absolute name as Windows has it stands alone, whatever the order; it leaves the directory of its number to others. */
static void absolute_names_of_windows(void **state) {
    (void)state;
    static const char *const names[][2] = { { "C:\\a.c", "b.c" }, { "b.c", "C:\\a.c" } };
    for (unsigned order = 0; order < 2; order++) {
        struct dwarf_sample d;
        struct wire file;
        dwarf_sample_init(&d, false);
        dwarf_sample_abbrev(&d, UNIT, DW_TAG_compile_unit, true, DW_AT_stmt_list, DW_FORM_sec_offset, DW_AT_comp_dir,
                            DW_FORM_string, 0);
        dwarf_sample_abbrev(&d, FUNCTION, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_low_pc,
                            DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, 0);
        dwarf_sample_abbrevs_end(&d);
        size_t table = wire_begin_length(&d.line, 4);
        wire_u16(&d.line, 4);
        size_t header = wire_u32(&d.line, 0);
        wire_bytes(&d.line, (const uint8_t[]){ 1, 1, 1, 1, 1, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0 }, 16);
        for (unsigned i = 0; i < 2; i++) {
            wire_cstr(&d.line, names[order][i]);
            wire_fill(&d.line, 0, 3);
        }
        wire_u8(&d.line, 0);
        wire_patch(&d.line, header, d.line.size - header - 4, 4);
        wire_bytes(&d.line, (const uint8_t[]){ 0, 9, DW_LNE_set_address }, 3);
        wire_u64(&d.line, 0x1000);
        wire_bytes(&d.line, (const uint8_t[]){ DW_LNS_copy, DW_LNS_set_file, 2, DW_LNS_advance_pc, 8, DW_LNS_copy,
                                               DW_LNS_advance_pc, 8, 0, 1, DW_LNE_end_sequence }, 11);
        wire_end_length(&d.line, table);
        size_t unit = dwarf_sample_unit(&d);
        wire_uleb(&d.info, UNIT);
        wire_u32(&d.info, 0);
        wire_cstr(&d.info, "/src");
        function_die(&d.info, "f", 0x1000, 0x10);
        wire_u8(&d.info, 0);
        dwarf_sample_end(&d, unit);
        struct csn_bytes out;
        struct csn_index *index;
        assert_int_equal(convert(build(&d, &file, false), &out), CSN_OK);
        assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
        for (uint32_t i = 1; i <= 2; i++) {
            struct csn_str directory, base;
            assert_int_equal(csn_index_file(index, i, &directory, &base, NULL), CSN_OK);
            bool alone = csni_str_is(base, "C:\\a.c");
            assert_true(alone || csni_str_is(base, "b.c"));
            assert_true(csni_str_is(directory, alone ? "" : "/src"));
        }
        csn_index_close(index);
        csn_bytes_free(&out);
        finish(&d, &file);
    }
}

/* What an example tells of a long name does not depend on the name's length. */
static void long_name_of_a_split_unit(void **state) {
    (void)state;
    struct dwarf_sample d;
    struct wire file;
    struct csn_bytes out;
    begin(&d, 5);
    size_t unit = wire_begin_length(&d.info, 4);
    wire_u16(&d.info, 5);
    wire_u8(&d.info, DW_UT_skeleton);
    wire_u8(&d.info, 8);
    wire_u32(&d.info, 0);
    wire_u64(&d.info, 1);
    wire_uleb(&d.info, SKELETON);
    wire_fill(&d.info, 'x', 256);
    wire_u8(&d.info, 0);
    wire_end_length(&d.info, unit);
    assert_int_equal(convert(build(&d, &file, false), &out), CSN_E_NOT_FOUND);
    assert_int_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].count, 1);
    assert_int_equal(strlen(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].example), CSN_EXAMPLE_SIZE - 1);
    finish(&d, &file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(origin_in_no_unit),
        cmocka_unit_test(names_in_types),
        cmocka_unit_test(shared_list_of_ranges),
        cmocka_unit_test(shared_list_of_many_units),
        cmocka_unit_test(shared_rows),
        cmocka_unit_test(parts_times_inlined_calls),
        cmocka_unit_test(nests_that_are_left_out),
        cmocka_unit_test(absolute_names_of_windows),
        cmocka_unit_test(long_name_of_a_split_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
