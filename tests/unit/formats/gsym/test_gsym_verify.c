/* formats/gsym/read/gsym_verify.c through csn_index_verify(): a sound file has no problems; each rule broken once is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/checked.h"
#include "formats/gsym/gsym_layout.h"
#include "wire/wire_gsym.h"

struct told {
    char text[8][CSN_ERROR_TEXT_SIZE], last[CSN_ERROR_TEXT_SIZE];
    unsigned count, stop_at;
};

static bool keep(void *context, const struct csn_error *err) {
    struct told *told = context;
    assert_true(err->code < 0);
    if (told->count < 8) strcpy(told->text[told->count], err->text);
    strcpy(told->last, err->text);
    return ++told->count != told->stop_at;
}

static struct csn_verify_counts verify(struct csni_span file, struct told *told) {
    struct csn_index *index = NULL;
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, keep, told, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, told->count);
    csn_index_close(index);
    return counts;
}

/* The one problem of the bytes that wire_gsym_build() made and the test changed. */
static void expect_problem(struct wire_gsym *g, const char *format, ...) {
    struct told told = { .count = 0 };
    verify(wire_span(&g->out), &told);
    char text[CSN_ERROR_TEXT_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_string_equal(told.text[0], text);
    assert_int_equal(told.count, 1);
    wire_gsym_deinit(g);
}

static void build_example(struct wire_gsym *g) {
    wire_gsym_example(g, false, 4);
    wire_gsym_build(g);
}

static void sound_files(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        struct told told = { .count = 0 };
        wire_gsym_example(&g, big, 4);
        struct csn_verify_counts counts = verify(wire_gsym_build(&g), &told);
        assert_int_equal(told.count, 0);
        assert_int_equal(counts.functions, 3);
        assert_int_equal(counts.rows, 11);
        assert_int_equal(counts.inline_nodes, 3);
        assert_int_equal(counts.files, 2);
        assert_int_equal(counts.strings, 9);
        assert_int_equal(counts.call_sites, 0);
        wire_gsym_deinit(&g);
    }
}

static void tables(void **state) {
    (void)state;
    struct wire_gsym g;
    build_example(&g);
    wire_patch(&g.out, g.address_table + 4, 0x300, 4);
    expect_problem(&g, "address table+0x%zx: entry 2 is 0x228, need >= 0x300", g.address_table + 8);
    build_example(&g);
    wire_patch(&g.out, g.string_table, 'x', 1);
    expect_problem(&g, "string table+0x%zx: first byte 0x78, need 0", g.string_table);
    build_example(&g);
    wire_patch(&g.out, g.string_table + g.string_size - 1, 'x', 1);
    expect_problem(&g, "string table+0x%zx: last byte 0x78, need 0", g.string_table + g.string_size - 1);
    build_example(&g);
    wire_patch(&g.out, g.file_table + 4 + 12, 0x999, 4);
    expect_problem(&g, "file table+0x%zx: file name: string 0x999, need < 0x%x", g.file_table + 4 + 8, g.string_size);
    build_example(&g);
    wire_patch(&g.out, g.file_table + 4, 1, 4);
    expect_problem(&g, "file table+0x%zx: file 0 is {0x1, 0x0}, need {0, 0}", g.file_table + 4);
    build_example(&g);
    wire_patch(&g.out, g.info_table, 0x10000, 4);
    expect_problem(&g, "info offset table+0x%zx: record 0 at 0x10000, file has 0x%zx bytes", g.info_table, g.out.size);
}

static void records(void **state) {
    (void)state;
    struct wire_gsym g;
    build_example(&g);
    wire_patch(&g.out, g.records[2] + CSNI_GSYM_R_NAME, 0, 4);
    expect_problem(&g, "FunctionInfo+0x%zx: name 0, need > 0", g.records[2] + 4);
    build_example(&g);
    wire_patch(&g.out, g.records[2] + CSNI_GSYM_R_NAME, 0x800, 4);
    expect_problem(&g, "FunctionInfo+0x%zx: name: string 0x800, need < 0x%x", g.records[2] + 4, g.string_size);
    build_example(&g);
    wire_patch(&g.out, g.records[2] + CSNI_GSYM_R_PARTS, 9, 4);
    expect_problem(&g, "FunctionInfo+0x%zx: part header: 0 bytes left, need 8", g.records[2] + 16);
    wire_gsym_example(&g, false, 4);
    wire_fill(&g.functions[2].parts, 0, 0);
    wire_u32(&g.functions[2].parts, 0);
    wire_u32(&g.functions[2].parts, 4);
    wire_gsym_build(&g);
    expect_problem(&g, "FunctionInfo+0x%zx: end mark holds 4 bytes, need 0", g.records[2] + 16);
    build_example(&g);
    wire_patch(&g.out, g.info_table + 8, g.records[2] - 2, 4);
    struct told told = { .count = 0 };
    verify(wire_span(&g.out), &told);
    char text[128];
    snprintf(text, sizeof text, "FunctionInfo+0x%zx: record of function 2, need a multiple of 4", g.records[2] - 2);
    assert_string_equal(told.text[0], text);
    wire_gsym_deinit(&g);
}

/* A file of one function at 0x1000 with one part of these bytes. */
static size_t build_part(struct wire_gsym *g, uint32_t size, uint32_t type, const uint8_t *bytes, size_t length) {
    wire_gsym_init(g, false, 4, 0x1000);
    wire_gsym_file(g, "d", "f");
    struct wire_gsym_function *f = wire_gsym_function(g, 0x1000, size, "f");
    wire_gsym_part(&f->parts, type, (struct csni_span){ bytes, length });
    wire_gsym_build(g);
    return g->records[0] + CSNI_GSYM_R_PARTS + CSNI_GSYM_PART_HEADER_SIZE;
}

static void line_tables(void **state) {
    (void)state;
    struct wire_gsym g;
    static const uint8_t past[] = { 0, 0, 9, 2, 16, 2, 1, 0 }, file[] = { 0, 0, 9, 1, 2, 2, 1, 2, 1, 0 },
                         open_end[] = { 0, 0, 9, 2, 1 }, too_long[] = { 0, 0, 9, 2, 1, 0, 0 };
    size_t at = build_part(&g, 16, CSNI_GSYM_PART_LINES, past, sizeof past);
    expect_problem(&g, "FunctionInfo+0x%zx: row at 0x1010, need 0x1000..0x100f", at);
    at = build_part(&g, 16, CSNI_GSYM_PART_LINES, file, sizeof file);
    expect_problem(&g, "FunctionInfo+0x%zx: row at 0x1001 names file 2, need < 2", at);
    at = build_part(&g, 16, CSNI_GSYM_PART_LINES, open_end, sizeof open_end);
    expect_problem(&g, "FunctionInfo+0x%zx: line table of 5 bytes has no end mark", at + 5);
    at = build_part(&g, 16, CSNI_GSYM_PART_LINES, too_long, sizeof too_long);
    expect_problem(&g, "FunctionInfo+0x%zx: line table uses 6 bytes of 7, need all", at);
}

static void inline_trees(void **state) {
    (void)state;
    struct wire_gsym g;
    enum { NAME = 1 };
    /* count, (start, size)..., children, name, call file, call line */
    static const uint8_t outside[] = { 1, 0, 17, 0, NAME, 0, 0, 0, 0, 0 },
                         child[] = { 2, 0, 4, 8, 8, 1, NAME, 0, 0, 0, 0, 0, 1, 3, 3, 0, NAME, 0, 0, 0, 1, 1, 0 },
                         touching[] = { 2, 0, 4, 4, 8, 0, NAME, 0, 0, 0, 0, 0 },
                         file[] = { 1, 0, 4, 0, NAME, 0, 0, 0, 2, 0 },
                         name[] = { 1, 0, 4, 0, 99, 0, 0, 0, 1, 0 },
                         open_end[] = { 1, 0, 4, 1, NAME, 0, 0, 0, 1, 0 },
                         too_long[] = { 1, 0, 4, 0, NAME, 0, 0, 0, 1, 0, 0 };
    size_t at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, outside, sizeof outside);
    expect_problem(&g, "FunctionInfo+0x%zx: range 0x1000..0x1011 of an inline node is not within the function", at + 1);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, child, sizeof child);
    expect_problem(&g, "FunctionInfo+0x%zx: range 0x1003..0x1006 of an inline node is not within a range of its parent",
                   at + 13);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, touching, sizeof touching);
    expect_problem(&g, "FunctionInfo+0x%zx: range 1 of an inline node is 0x1004..0x100c, need it not empty and to "
                   "start after 0x1004", at + 1);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, file, sizeof file);
    expect_problem(&g, "FunctionInfo+0x%zx: inline node is called from file 2, need < 2", at + 1);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, name, sizeof name);
    expect_problem(&g, "FunctionInfo+0x%zx: inline node: string 0x63, need < 0x%x", at + 1, g.string_size);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, open_end, sizeof open_end);
    expect_problem(&g, "FunctionInfo+0x%zx: inline tree of 10 bytes ends within a node", at + 10);
    at = build_part(&g, 16, CSNI_GSYM_PART_INLINE, too_long, sizeof too_long);
    expect_problem(&g, "FunctionInfo+0x%zx: inline tree uses 10 bytes of 11, need all", at);
}

static void call_sites(void **state) {
    (void)state;
    struct wire_gsym g;
    static const uint8_t sound[] = { 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0 };
    static const uint8_t pattern[] = { 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 99, 0, 0, 0 };
    static const uint8_t huge[] = { 255, 255, 255, 255, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
    static const uint8_t huge_patterns[] = { 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255 };
    struct told told = { .count = 0 };
    size_t at = build_part(&g, 16, CSNI_GSYM_PART_CALL_SITES, sound, sizeof sound);
    assert_int_equal(verify(wire_span(&g.out), &told).call_sites, 1);
    assert_int_equal(told.count, 0);
    wire_gsym_deinit(&g);
    at = build_part(&g, 16, CSNI_GSYM_PART_CALL_SITES, pattern, sizeof pattern);
    expect_problem(&g, "FunctionInfo+0x%zx: pattern: string 0x63, need < 0x%x", at + 17, g.string_size);
    at = build_part(&g, 16, CSNI_GSYM_PART_CALL_SITES, huge, sizeof huge);
    expect_problem(&g, "FunctionInfo+0x%zx: count 4294967295 in 17 bytes, need <= 1", at);
    at = build_part(&g, 16, CSNI_GSYM_PART_CALL_SITES, huge_patterns, sizeof huge_patterns);
    expect_problem(&g, "FunctionInfo+0x%zx: call site 0: 13 bytes left, need more", at + 17);
    at = build_part(&g, 16, CSNI_GSYM_PART_CALL_SITES, sound, 3);
    expect_problem(&g, "FunctionInfo+0x%zx: part of type 4 holds 3 bytes, need a count of 4", at);
}

static void merged_functions(void **state) {
    (void)state;
    struct wire_gsym g;
    /* size 16, name 1, end; then 4 bytes too many in the second */
    static const uint8_t sound[] = { 1, 0, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t longer[] = { 1, 0, 0, 0, 18, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t nested[] = { 1, 0, 0, 0, 28, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0,
                                      4, 0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0 };
    struct told told = { .count = 0 };
    size_t at = build_part(&g, 16, CSNI_GSYM_PART_MERGED, sound, sizeof sound);
    assert_int_equal(verify(wire_span(&g.out), &told).merged_functions, 1);
    assert_int_equal(told.count, 0);
    wire_gsym_deinit(&g);
    at = build_part(&g, 16, CSNI_GSYM_PART_MERGED, longer, sizeof longer);
    expect_problem(&g, "FunctionInfo+0x%zx: merged function uses 16 bytes of 18, need all", at + 8);
    at = build_part(&g, 16, CSNI_GSYM_PART_MERGED, nested, sizeof nested);
    expect_problem(&g, "FunctionInfo+0x%zx: a merged function holds merged functions", at + 8 + 16);
    at = build_part(&g, 16, CSNI_GSYM_PART_MERGED, sound, 12);
    expect_problem(&g, "FunctionInfo+0x%zx: merged function 0: 8 bytes left, need more", at + 8);
}

static void unknown_parts(void **state) {
    (void)state;
    struct wire_gsym g;
    struct told told = { .count = 0 };
    build_part(&g, 16, 99, (const uint8_t *)"whatever", 8);
    verify(wire_span(&g.out), &told);
    assert_int_equal(told.count, 0);
    wire_gsym_deinit(&g);
    wire_gsym_init(&g, false, 4, 0);
    struct wire_gsym_function *f = wire_gsym_function(&g, 0, 4, "f");
    static const uint8_t lines[] = { 0, 0, 9, 0 };
    for (int k = 0; k < 2; k++)
        wire_gsym_part(&f->parts, CSNI_GSYM_PART_LINES, (struct csni_span){ lines, sizeof lines });
    wire_gsym_build(&g);
    expect_problem(&g, "FunctionInfo+0x%zx: a second part of type 1, need one", g.records[0] + 8 + 8 + 4 + 8);
}

/* As many as it may have; one more. */
static void many_parts(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct wire_gsym g;
        struct told told = { .count = 0 };
        struct csn_index *index = NULL;
        struct csn_function function;
        struct csn_error err = CSN_ERROR_INIT;
        wire_gsym_init(&g, false, 4, 0x1000);
        struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 16, "f");
        for (int k = 0; k < CSNI_GSYM_PARTS_MAX + more; k++) wire_gsym_part(&f->parts, 99, (struct csni_span){ NULL, 0 });
        struct csni_span file = wire_gsym_build(&g);
        verify(file, &told);
        assert_int_equal(told.count, more);
        assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
        assert_int_equal(csn_index_function(index, 0, &function, &err), more ? CSN_E_LIMIT : CSN_OK);
        if (more) assert_string_equal(err.text, told.last);
        else assert_int_equal(function.unknown_parts, CSNI_GSYM_PARTS_MAX);
        csn_index_close(index);
        wire_gsym_deinit(&g);
    }
}

static void stopping(void **state) {
    (void)state;
    struct wire_gsym g;
    build_example(&g);
    for (int k = 0; k < 3; k++) wire_patch(&g.out, g.records[k] + CSNI_GSYM_R_NAME, 0, 4);
    struct told all = { .count = 0 }, one = { .stop_at = 2 };
    assert_int_equal(verify(wire_span(&g.out), &all).problems, 3);
    assert_int_equal(verify(wire_span(&g.out), &one).problems, 2);
    wire_gsym_deinit(&g);
}

/* ---- records that share bytes ---- */

/* A file of `count` functions at 0x1000, 0x1001, ..., with records `step` bytes after each other, which `bytes` holds. */
static void build_sharing(struct wire *w, uint32_t count, uint32_t step, const struct wire *bytes) {
    static const char strings[] = "\0a name shared";
    uint32_t tables_end = CSNI_GSYM_HEADER_SIZE + count * 8 + CSNI_GSYM_FILE_COUNT_SIZE + 2 * CSNI_GSYM_FILE_ENTRY_SIZE;
    wire_init(w, false);
    wire_u32(w, CSNI_GSYM_MAGIC);
    wire_u16(w, CSNI_GSYM_VERSION_1);
    wire_u8(w, 4); /* address offset size */
    wire_u8(w, 0);
    wire_u64(w, 0x1000);
    wire_u32(w, count);
    wire_u32(w, tables_end); /* strings */
    wire_u32(w, sizeof strings);
    wire_fill(w, 0, CSNI_GSYM_UUID_MAX);
    for (uint32_t k = 0; k < count; k++) wire_u32(w, k);
    for (uint32_t k = 0; k < count; k++) wire_u32(w, tables_end + csni_align_up(sizeof strings, 4) + k * step);
    wire_u32(w, 2); /* files: none, and one without a name */
    wire_u64(w, 0);
    wire_u64(w, 0);
    wire_bytes(w, strings, sizeof strings);
    wire_align(w, 4);
    wire_bytes(w, bytes->bytes, bytes->size);
}

/* Checking ends early, and that is the last problem. */
static struct csn_verify_counts expect_end(struct wire *bytes, uint32_t count, uint32_t step, struct told *told) {
    struct wire file;
    build_sharing(&file, count, step, bytes);
    struct csn_verify_counts counts = verify(wire_span(&file), told);
    char text[64];
    snprintf(text, sizeof text, "of a file of 0x%zx, need no more than 16 times as many", file.size);
    assert_non_null(strstr(told->last, "records share bytes: 0x"));
    assert_non_null(strstr(told->last, text));
    /* Each row, node or function takes a byte or more of what may be read. */
    assert_true(counts.rows + counts.inline_nodes + counts.functions <= 16 * ((uint64_t)file.size + (1 << 20)));
    wire_deinit(&file);
    wire_deinit(bytes);
    return counts;
}

/* Each of the three would take more than 10^10 steps without a bound. */
static void shared_records(void **state) {
    (void)state;
    enum { COUNT = 100000, SIZE = 400000 };
    struct wire bytes;
    wire_init(&bytes, false);
    wire_u32(&bytes, COUNT);
    wire_u32(&bytes, 1);
    wire_u32(&bytes, CSNI_GSYM_PART_LINES);
    wire_u32(&bytes, SIZE);
    wire_fill(&bytes, 0, 2);        /* least and greatest step of lines */
    wire_fill(&bytes, 1, 1);        /* first line */
    wire_fill(&bytes, 4, SIZE - 4); /* rows that all stand at one address */
    wire_fill(&bytes, 0, 1 + 8);    /* end of the rows, end mark */
    struct told told = { .count = 0 };
    struct csn_verify_counts counts = expect_end(&bytes, COUNT, 0, &told);
    assert_int_equal(told.count, 1);
    assert_in_range(counts.functions, 16, COUNT - 1);
    assert_true(counts.rows > 16 * (SIZE - 4));
}

/* Each begins within the one before and reaches to the end of the file: all are made of {99, 8}, which is size and name of
 * a record and type and length of a part. */
static void overlapping_records(void **state) {
    (void)state;
    enum { COUNT = 300000 };
    struct wire bytes;
    wire_init(&bytes, false);
    for (uint32_t k = 0; k < 2 * COUNT; k++) {
        wire_u32(&bytes, 99);
        wire_u32(&bytes, 8);
    }
    wire_fill(&bytes, 0, 16);
    struct told told = { .count = 0 };
    assert_in_range(expect_end(&bytes, COUNT, 8, &told).functions, 16, COUNT - 1);
    assert_non_null(strstr(told.text[0], ": record of more than 1024 parts"));
}

/* Siblings that lie in the last range of their parent and in its first by turns. */
static void ranges_up_and_down(void **state) {
    (void)state;
    enum { RANGES = 300000, CHILDREN = 200000 };
    struct wire bytes, tree;
    wire_init(&bytes, false);
    wire_init(&tree, false);
    wire_uleb(&tree, RANGES);
    for (uint32_t k = 0; k < RANGES; k++) {
        wire_uleb(&tree, 4 * k);
        wire_uleb(&tree, 2);
    }
    wire_u8(&tree, 1); /* has children */
    wire_u32(&tree, 1);
    wire_u16(&tree, 0); /* call file and line */
    for (uint32_t k = 0; k < CHILDREN; k++) {
        static const uint32_t ranges[2][2] = { { 4 * (RANGES - 1), 1 }, { 0, 1 } };
        wire_gsym_node(&tree, 1, ranges[k % 2], false, 1, 0, 0);
    }
    wire_u8(&tree, 0); /* no more children */
    wire_u32(&bytes, 4 * RANGES);
    wire_u32(&bytes, 1);
    wire_gsym_part_wire(&bytes, CSNI_GSYM_PART_INLINE, &tree);
    wire_deinit(&tree);
    wire_fill(&bytes, 0, 8);
    struct told told = { .count = 0 };
    assert_in_range(expect_end(&bytes, 1, 0, &told).inline_nodes, 16, CHILDREN - 1);
    assert_int_equal(told.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_files), cmocka_unit_test(tables), cmocka_unit_test(records),
        cmocka_unit_test(line_tables), cmocka_unit_test(inline_trees), cmocka_unit_test(call_sites),
        cmocka_unit_test(merged_functions), cmocka_unit_test(unknown_parts), cmocka_unit_test(many_parts),
        cmocka_unit_test(stopping),
        cmocka_unit_test(shared_records), cmocka_unit_test(overlapping_records),
        cmocka_unit_test(ranges_up_and_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
