/* convert/: rows that no function of their unit has, and inlined calls that reach across the parts of a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <callsign/inspect.h>

#include "support/convert_sample.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"

static struct csn_convert_report report;

static csn_status convert(struct csni_span file, const struct csn_convert_options *options, struct csn_bytes *out) {
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_convert_memory(file.ptr, file.size, options, out, &report, &err);
    if (status < 0 && !options->allocator) fail_msg("%s", err.text);
    return status;
}

/* The index must read as `text`, without a name where rows cover no function. Ends the sample. */
static void expect_merged(struct convert_sample *s, uint32_t merge, const char *text, const char *events) {
    struct csni_span file = convert_sample_build(s);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out, again;
    options.threads = 1;
    options.merged_functions = merge;
    convert(file, &options, &out);
    assert_string_equal(whole_index_text(out.ptr, out.size), text);
    assert_string_equal(model_sample_events(&report), events);
    options.threads = 3;
    convert(file, &options, &again);
    assert_int_equal(again.size, out.size);
    assert_memory_equal(again.ptr, out.ptr, out.size);
    csn_bytes_free(&again);
    csn_bytes_free(&out);
    convert_sample_deinit(s);
}

static void expect(struct convert_sample *s, const char *text, const char *events) {
    expect_merged(s, CSN_MERGE_NONE, text, events);
}

/* A unit whose rows are at 1000 (line 1), 1010 (2), 1020 (3) and 1030 (4); they end at 1040. */
static void begin(struct convert_sample *s) {
    const struct line lines[] = { { 0x1000, 1, 1 }, { 0x1010, 1, 2 }, { 0x1020, 1, 3 }, { 0x1030, 1, 4 }, { 0x1040, LINE_END, 0 } };
    convert_sample_init(s, 5, false);
    convert_sample_lines(s, lines, 5, NULL);
    convert_sample_unit(s);
}

static void add_function(struct convert_sample *s, const char *name, uint64_t start, uint64_t size) {
    die_function(s, name, start, size);
    die_end(s);
}

/* As `static int a, b` of one text at -O2: the second one is a thunk without a DIE. */
static void symbol_beside_a_function(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    add_function(&s, "a", 0x1000, 0x10);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "b", 0x1010, 8);
    expect(&s, "a [1000,1010)\n 1000 a.c:1\nb [1010,1018)\n 1010 a.c:2\n [1020,1040)\n 1020 a.c:3\n 1030 a.c:4\n",
           "lines-of-symbol:1");
    assert_int_equal(report.events[CSN_EVENT_LINES_WITHOUT_FUNCTION].count, 1);
    assert_int_equal(report.functions_written, 3);
}

/* As -gmlt without inlined calls, or assembler sources: no DIE at all. */
static void unit_without_functions(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "first", 0x1000, 0x18);  /* ends within a row */
    convert_sample_symbol(&s, "second", 0x1018, 0x18); /* begins within one */
    convert_sample_symbol(&s, "beyond", 0x1038, 0x18); /* the rows end before it does */
    expect(&s, "first [1000,1018)\n 1000 a.c:1\n 1010 a.c:2\nsecond [1018,1030)\n 1018 a.c:2\n 1020 a.c:3\n"
               " [1030,1038)\n 1030 a.c:4\nbeyond [1038,1050)\n 1038 a.c:4\n 1040 a.c:0\n",
           "lines-of-symbol:3");
}

/* What only the end of a function's last row covers is padding, unless a symbol begins there. */
static void rest_of_a_row(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    add_function(&s, "padded", 0x1000, 0xc);
    add_function(&s, "thunk before", 0x1010, 0x8);
    add_function(&s, "last", 0x1020, 0x20);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "thunk", 0x1018, 8);
    expect(&s, "padded [1000,100c)\n 1000 a.c:1\nthunk before [1010,1018)\n 1010 a.c:2\nthunk [1018,1020)\n 1018 a.c:2\n"
               "last [1020,1040)\n 1020 a.c:3\n 1030 a.c:4\n",
           "lines-of-symbol:1");
    assert_int_equal(report.events[CSN_EVENT_LINES_WITHOUT_FUNCTION].count, 0);
}

/* Another entry of a function, or a symbol of it that is shorter, answers in its place. */
static void symbols_within_a_function(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    add_function(&s, "f", 0x1000, 0x40);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "short f", 0x1000, 0x8);
    convert_sample_symbol(&s, "entry", 0x1018, 0x28);
    expect(&s, "short f [1000,1008)\n 1000 a.c:1\nf [1000,1040)\n 1000 a.c:1\n 1010 a.c:2\n 1020 a.c:3\n 1030 a.c:4\n"
               "entry [1018,1040)\n 1018 a.c:2\n 1020 a.c:3\n 1030 a.c:4\n",
           "functions-overlap:2 lines-of-symbol:2");
}

/* Up to its first row a function has line 0 of that row's file: readers find it from its start on. */
static void rows_that_begin_late(void **state) {
    (void)state;
    const struct line lines[] = { { 0x1008, 2, 1 }, { 0x1010, 1, 2 }, { 0x1020, LINE_END, 0 } };
    struct convert_sample s;
    convert_sample_init(&s, 5, false);
    convert_sample_lines(&s, lines, 3, NULL);
    convert_sample_unit(&s);
    add_function(&s, "late", 0x1000, 0x20);
    convert_sample_unit_end(&s);
    expect(&s, "late [1000,1020)\n 1000 b.h:0\n 1008 b.h:1\n 1010 a.c:2\n", "");
}

/* With a declaration, its line, but not where a call is inlined: that call's function is declared elsewhere. */
static void inlined_calls_before_the_first_row(void **state) {
    (void)state;
    const struct line lines[] = { { 0x1008, 2, 1 }, { 0x1010, 1, 2 }, { 0x1020, LINE_END, 0 } };
    for (unsigned offset = 0; offset <= 4; offset += 4) {
        struct convert_sample s;
        convert_sample_init(&s, 5, false);
        convert_sample_lines(&s, lines, 3, NULL);
        convert_sample_unit(&s);
        size_t call = die_abstract(&s, "call");
        die_parent_declared(&s, "late", 0x1000, 0x20, 1, 30);
        die_inlined(&s, call, 0x1000 + offset, 0xc, 1, 31);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, offset ? "late [1000,1020)\n 1000 a.c:30\n 1008 b.h:1\n 1010 a.c:2\n >call [1004,1010) a.c:31\n"
                          : "late [1000,1020)\n 1000 b.h:0\n 1008 b.h:1\n 1010 a.c:2\n >call [1000,100c) a.c:31\n", "");
    }
}

/* DW_AT_LLVM_stmt_sequence names a sequence by its place in the table, which need not be the order of addresses. One that does not
 * have the function's code, up to its last byte, is not believed. */
static void sequences_by_name(void **state) {
    (void)state;
    const struct line lines[] = { { 0x1030, 1, 3 }, { 0x1040, LINE_END, 0 }, { 0x1010, 1, 2 }, { 0x1030, LINE_END, 0 },
                                  { 0x1000, 1, 1 }, { 0x1010, LINE_END, 0 } };
    struct convert_sample s;
    uint64_t offsets[3];
    convert_sample_init(&s, 5, false);
    convert_sample_lines(&s, lines, 6, offsets);
    convert_sample_unit(&s);
    die_function_sequence(&s, "first", 0x1000, 0x10, offsets[2]);
    die_end(&s);
    die_function_sequence(&s, "second", 0x1010, 0x10, offsets[1]);
    die_end(&s);
    die_function_sequence(&s, "third", 0x1030, 0x10, offsets[0]);
    die_end(&s);
    convert_sample_unit_end(&s);
    expect(&s, "first [1000,1010)\n 1000 a.c:1\nsecond [1010,1020)\n 1010 a.c:2\nthird [1030,1040)\n 1030 a.c:3\n", "");

    convert_sample_init(&s, 5, false);
    convert_sample_lines(&s, lines, 6, offsets);
    convert_sample_unit(&s);
    die_function_sequence(&s, "second", 0x1010, 0x20, offsets[2]); /* ends where the function begins */
    die_end(&s);
    convert_sample_unit_end(&s);
    expect(&s, " [1000,1010)\n 1000 a.c:1\nsecond [1010,1030)\n 1010 a.c:2\n [1030,1040)\n 1030 a.c:3\n", "line-bad-sequence:1");
}

/* Places of files: a directory that several have, slashes that are too many, names with directories in them, absolute ones. */
static void directories_of_files(void **state) {
    (void)state;
    static const char *const directories[] = { "include/", "/abs/" };
    static const struct { const char *name; uint8_t directory; const char *want; } files[] = {
        { "a.c", 0, "/src|a.c" }, { "b.h", 1, "/src/include|b.h" }, { "c.h", 1, "/src/include|c.h" },
        { "sub/d.h", 1, "/src/include/sub|d.h" }, { "sub//e.h", 2, "/abs/sub|e.h" }, { "f.h", 2, "/abs|f.h" },
        { "/root.h", 1, "/|root.h" }, { "../g.h", 0, "/src/..|g.h" },
    };
    enum { FILES = sizeof files / sizeof *files };
    struct convert_sample s;
    convert_sample_init(&s, 4, false);
    struct wire *w = &s.dwarf.line;
    s.line_table = w->size;
    size_t table = wire_begin_length(w, 4);
    wire_u16(w, 4);
    size_t header = wire_u32(w, 0);
    wire_bytes(w, (const uint8_t[]){ 1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 }, 18);
    for (size_t i = 0; i < 2; i++) wire_cstr(w, directories[i]);
    wire_u8(w, 0);
    for (size_t i = 0; i < FILES; i++) {
        wire_cstr(w, files[i].name);
        wire_bytes(w, (const uint8_t[]){ files[i].directory, 0, 0 }, 3);
    }
    wire_u8(w, 0);
    wire_patch(w, header, w->size - header - 4, 4);
    wire_bytes(w, (const uint8_t[]){ 0, 9, DW_LNE_set_address }, 3);
    wire_u64(w, 0x1000);
    for (uint8_t i = 1; i <= FILES; i++) wire_bytes(w, (const uint8_t[]){ DW_LNS_set_file, i, 13 + 14 + 5 + 1 }, 3);
    wire_bytes(w, (const uint8_t[]){ DW_LNS_advance_pc, 1, 0, 1, DW_LNE_end_sequence }, 5);
    wire_end_length(w, table);
    convert_sample_unit(&s);
    add_function(&s, "f", 0x1001, FILES);
    convert_sample_unit_end(&s);
    struct csni_span file = convert_sample_build(&s);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    struct csn_index *index;
    convert(file, &options, &out);
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    for (size_t i = 0; i < FILES; i++) {
        struct csn_frame frame;
        size_t count;
        char place[64];
        assert_int_equal(csn_index_lookup(index, 0x1001 + i, &frame, 1, &count, NULL), CSN_OK);
        snprintf(place, sizeof place, "%.*s|%.*s", (int)frame.directory.len, frame.directory.ptr, (int)frame.base.len,
                 frame.base.ptr);
        assert_string_equal(place, files[i].want);
    }
    csn_index_close(index);
    csn_bytes_free(&out);
    convert_sample_deinit(&s);
}

/* Rows of a function that the linker removed are of no use. */
static void removed_sequences(void **state) {
    (void)state;
    const struct line lines[] = { { 0, 1, 1 }, { 0x10, LINE_END, 0 }, { 0x1000, 1, 2 }, { 0x1010, LINE_END, 0 } };
    struct convert_sample s;
    convert_sample_init(&s, 4, true);
    convert_sample_lines(&s, lines, 4, NULL);
    convert_sample_unit(&s);
    convert_sample_unit_end(&s);
    expect(&s, " [1000,1010)\n 1000 a.c:2\n", "");
}

/* The last table of the section, too. */
static void table_that_no_unit_names(void **state) {
    (void)state;
    const struct line lone[] = { { 0x1100, 1, 7 }, { 0x1110, LINE_END, 0 } };
    struct convert_sample s;
    begin(&s);
    add_function(&s, "f", 0x1000, 0x40);
    convert_sample_unit_end(&s);
    convert_sample_lines(&s, lone, 2, NULL);
    expect(&s, "f [1000,1040)\n 1000 a.c:1\n 1010 a.c:2\n 1020 a.c:3\n 1030 a.c:4\n [1100,1110)\n 1100 a.c:7\n", "");
}

/* All symbols of one range have the rows. */
static void merged_symbols(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "one", 0x1000, 0x40);
    convert_sample_symbol(&s, "two", 0x1000, 0x40);
    struct csni_span file = convert_sample_build(&s);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.merged_functions = CSN_MERGE_ALL;
    convert(file, &options, &out);
    struct csn_index *index;
    struct csn_record record, child;
    struct csn_merged_iter merged;
    struct csn_row_iter iter;
    struct csn_row row;
    unsigned rows = 0;
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_record(index, 0, &record, NULL), CSN_OK);
    assert_int_equal(csn_merged_iter_init(&merged, index, &record, NULL), CSN_OK);
    assert_int_equal(csn_merged_iter_next(&merged, &child, NULL), CSN_OK);
    assert_int_equal(csn_row_iter_init(&iter, index, &child, NULL), CSN_OK);
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK) assert_int_equal(row.line, ++rows);
    assert_int_equal(rows, 4);
    csn_index_close(index);
    csn_bytes_free(&out);
    convert_sample_deinit(&s);
}

static csn_status convert_with(void *context, const struct csn_allocator *alloc) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { 0 };
    options.threads = 1;
    options.allocator = alloc;
    csn_status status = convert(*(struct csni_span *)context, &options, &out);
    csn_bytes_free(&out);
    return status;
}

/* Each allocation of the conversion may fail. Ends the sample. */
static void expect_out_of_memory(struct convert_sample *s) {
    struct csni_span file = convert_sample_build(s);
    assert_true(test_allocator_sweep(convert_with, &file, 0) > 30);
    assert_true(test_allocator_sweep(convert_with, &file, 1) > 30);
    convert_sample_deinit(s);
}

static void out_of_memory(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    add_function(&s, "f", 0x1000, 0xc);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "thunk", 0x100c, 4);
    convert_sample_symbol(&s, "g", 0x1010, 8);
    expect_out_of_memory(&s);
}

/* ---- inlined calls ---- */

/* As clang -fbasic-block-sections or hot and cold parts have it: a call has one range, the function several. */
static void calls_across_parts(void **state) {
    (void)state;
    static const uint64_t touching[][2] = { { 0x1000, 0x1010 }, { 0x1010, 0x1020 } },
                          apart[][2] = { { 0x1020, 0x1028 }, { 0x1030, 0x1040 } };
    struct convert_sample s;
    begin(&s);
    size_t a = die_abstract(&s, "a"), b = die_abstract(&s, "b");
    die_function_ranges(&s, "f", convert_sample_ranges(&s, touching, 2));
    die_inlined(&s, a, 0x1008, 0x10, 1, 7);
    die_inlined(&s, b, 0x100c, 8, 1, 8);
    die_end(&s);
    die_end(&s);
    die_end(&s);
    die_function_ranges(&s, "g", convert_sample_ranges(&s, apart, 2));
    die_inlined(&s, a, 0x1024, 0x10, 1, 9);
    die_end(&s);
    die_end(&s);
    convert_sample_unit_end(&s);
    expect(&s, "f [1000,1010)\n 1000 a.c:1\n >a [1008,1010) a.c:7\n >>b [100c,1010) a.c:8\n"
               "f [1010,1020)\n 1010 a.c:2\n >a [1010,1018) a.c:7\n >>b [1010,1014) a.c:8\n"
               "g [1020,1028)\n 1020 a.c:3\n >a [1024,1028) a.c:9\ng [1030,1040)\n 1030 a.c:4\n >a [1030,1034) a.c:9\n",
           "inline-clipped:1");
}

/* As GCC's strict DWARF 2 has it: a call has the first of its ranges, what is inlined in it one that lies elsewhere. */
static void calls_outside_of_those_around_them(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    size_t a = die_abstract(&s, "a"), b = die_abstract(&s, "b"), c = die_abstract(&s, "c");
    die_function(&s, "f", 0x1000, 0x40);
    die_inlined(&s, a, 0x1004, 4, 1, 7);
    die_inlined(&s, b, 0x1008, 4, 1, 8); /* behind a */
    die_inlined(&s, c, 0x1024, 8, 1, 9); /* in neither */
    die_end(&s);
    die_end(&s);
    die_end(&s);
    die_inlined(&s, a, 0x1010, 0, 1, 6); /* has no code of its own */
    die_inlined(&s, b, 0x1010, 4, 1, 5);
    die_end(&s);
    die_end(&s);
    die_end(&s);
    convert_sample_unit_end(&s);
    expect(&s, "f [1000,1040)\n 1000 a.c:1\n 1010 a.c:2\n 1020 a.c:3\n 1030 a.c:4\n >a [1004,100c) [1024,102c) a.c:7\n"
               " >>b [1008,100c) [1024,102c) a.c:8\n >>>c [1024,102c) a.c:9\n >a [1010,1014) a.c:6\n >>b [1010,1014) a.c:5\n",
           "");
}

/* As BOLT has it of programs that GCC split, and GCC's strict DWARF 2: the function has one range, a symbol names
 * the other part. */
static void begin_cold_part(struct convert_sample *s) {
    begin(s);
    size_t a = die_abstract(s, "a"), b = die_abstract(s, "b");
    die_function(s, "f", 0x1000, 0x10);
    die_inlined(s, a, 0x1004, 4, 1, 7);
    die_inlined(s, b, 0x1024, 4, 1, 8);
    die_end(s);
    die_end(s);
    die_inlined(s, b, 0x1028, 0x10, 1, 9);
    die_end(s);
    die_inlined(s, a, 0x2000, 4, 1, 10);
    die_end(s);
    die_end(s);
    convert_sample_unit_end(s);
}

static void calls_in_cold_parts(void **state) {
    (void)state;
    struct convert_sample s;
    begin_cold_part(&s);
    convert_sample_symbol(&s, "f.cold", 0x1020, 0xc);
    convert_sample_symbol(&s, "g.cold", 0x102c, 0x14);
    expect(&s, "f [1000,1010)\n 1000 a.c:1\n >a [1004,1008) a.c:7\n"
               " [1010,1020)\n 1010 a.c:2\n"
               "f.cold [1020,102c)\n 1020 a.c:3\n >a [1024,1028) a.c:7\n >>b [1024,1028) a.c:8\n >b [1028,102c) a.c:9\n"
               "g.cold [102c,1040)\n 102c a.c:3\n 1030 a.c:4\n >b [102c,1038) a.c:9\n",
           "inline-outside-parent:1 lines-of-symbol:2");
}

/* Several functions with cold parts, the last one first: each part gets the calls that lie in it. */
static void calls_in_several_cold_parts(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    size_t a = die_abstract(&s, "a");
    for (unsigned i = 3; i >= 1; i--) {
        const char name[] = { (char)('e' + i), 0 };
        die_function(&s, name, 0x1000 + 4 * i - 4, 4);
        die_inlined(&s, a, 0x1004 + 0x10 * i, 4, 1, 6 + i);
        die_end(&s);
        die_end(&s);
    }
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "f.cold", 0x1010, 0x10);
    convert_sample_symbol(&s, "g.cold", 0x1020, 0x10);
    convert_sample_symbol(&s, "h.cold", 0x1030, 0x10);
    expect(&s, "f [1000,1004)\n 1000 a.c:1\ng [1004,1008)\n 1004 a.c:1\nh [1008,100c)\n 1008 a.c:1\n"
               "f.cold [1010,1020)\n 1010 a.c:2\n >a [1014,1018) a.c:7\ng.cold [1020,1030)\n 1020 a.c:3\n >a [1024,1028) a.c:8\n"
               "h.cold [1030,1040)\n 1030 a.c:4\n >a [1034,1038) a.c:9\n",
           "line-start-clipped:2 lines-of-symbol:3");
}

/* What only the line table tells of gets them, too. */
static void calls_in_nameless_code(void **state) {
    (void)state;
    struct convert_sample s;
    begin_cold_part(&s);
    expect(&s, "f [1000,1010)\n 1000 a.c:1\n >a [1004,1008) a.c:7\n"
               " [1010,1040)\n 1010 a.c:2\n 1020 a.c:3\n 1030 a.c:4\n >a [1024,1028) a.c:7\n >>b [1024,1028) a.c:8\n >b [1028,1038) a.c:9\n",
           "inline-outside-parent:1");
}

/* GCC's strict DWARF 2 has a DIE for the cold part (`__second_sect_of_f`), which has nothing in it. That of another
 * unit is no part. */
static void calls_in_parts_with_dies(void **state) {
    (void)state;
    struct convert_sample s;
    begin_cold_part(&s);
    convert_sample_unit(&s);
    add_function(&s, "other", 0x1020, 0xc);
    convert_sample_unit_end(&s);
    expect(&s, "f [1000,1010)\n 1000 a.c:1\n >a [1004,1008) a.c:7\n [1010,1020)\n 1010 a.c:2\nother [1020,102c)\n 1020 a.c:3\n"
               " [1030,1040)\n 1030 a.c:4\n >b [1030,1038) a.c:9\n",
           "inline-outside-parent:2");
    begin(&s);
    size_t a = die_abstract(&s, "a"), b = die_abstract(&s, "b");
    die_function(&s, "f", 0x1000, 0x10);
    die_inlined(&s, b, 0x1024, 0x10, 1, 9);
    die_end(&s);
    die_end(&s);
    add_function(&s, "second", 0x1020, 0x10);
    die_function(&s, "third", 0x1030, 0x10); /* has inlined calls of its own */
    die_inlined(&s, a, 0x1038, 4, 1, 3);
    die_end(&s);
    die_end(&s);
    convert_sample_unit_end(&s);
    expect(&s, "f [1000,1010)\n 1000 a.c:1\n [1010,1020)\n 1010 a.c:2\nsecond [1020,1030)\n 1020 a.c:3\n >b [1024,1030) a.c:9\n"
               "third [1030,1040)\n 1030 a.c:4\n >a [1038,103c) a.c:3\n", "");
}

static void cold_parts_out_of_memory(void **state) {
    (void)state;
    struct convert_sample s;
    begin_cold_part(&s);
    convert_sample_symbol(&s, "f.cold", 0x1020, 0x20);
    expect_out_of_memory(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbol_beside_a_function),
        cmocka_unit_test(unit_without_functions),
        cmocka_unit_test(rest_of_a_row),
        cmocka_unit_test(symbols_within_a_function),
        cmocka_unit_test(rows_that_begin_late),
        cmocka_unit_test(inlined_calls_before_the_first_row),
        cmocka_unit_test(sequences_by_name),
        cmocka_unit_test(directories_of_files),
        cmocka_unit_test(removed_sequences),
        cmocka_unit_test(table_that_no_unit_names),
        cmocka_unit_test(merged_symbols),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(calls_across_parts),
        cmocka_unit_test(calls_outside_of_those_around_them),
        cmocka_unit_test(calls_in_cold_parts),
        cmocka_unit_test(calls_in_several_cold_parts),
        cmocka_unit_test(calls_in_nameless_code),
        cmocka_unit_test(calls_in_parts_with_dies),
        cmocka_unit_test(cold_parts_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
