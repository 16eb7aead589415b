/* callsign/index.h: opening, looking inside, memory, threads. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/gsym/gsym_layout.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

/* The example, with call sites and a merged function in "die" and an unknown part in "_fini". */
static struct csni_span build(struct wire_gsym *g, bool big) {
    wire_gsym_example(g, big, 4);
    struct wire sites, merged, child;
    wire_init(&sites, big);
    wire_init(&merged, big);
    wire_init(&child, big);
    uint32_t pattern = wire_gsym_string(g, "^total$"), name = wire_gsym_string(g, "dead");
    wire_u32(&sites, 2);
    wire_u64(&sites, 0x10);
    wire_u8(&sites, CSNI_GSYM_CALL_INTERNAL | CSNI_GSYM_CALL_EXTERNAL);
    wire_u32(&sites, 2);
    wire_u32(&sites, pattern);
    wire_u32(&sites, name);
    wire_u64(&sites, 0x1c);
    wire_u8(&sites, 0);
    wire_u32(&sites, 0);
    wire_gsym_record(&child, 0x23, name, &g->functions[0].parts);
    wire_u32(&merged, 1);
    wire_u32(&merged, child.size);
    wire_append(&merged, &child);
    wire_gsym_part_wire(&g->functions[0].parts, CSNI_GSYM_PART_MERGED, &merged);
    wire_gsym_part_wire(&g->functions[0].parts, CSNI_GSYM_PART_CALL_SITES, &sites);
    wire_gsym_part(&g->functions[2].parts, 77, (struct csni_span){ (const uint8_t *)"?", 1 });
    wire_deinit(&sites);
    wire_deinit(&merged);
    wire_deinit(&child);
    return wire_gsym_build(g);
}

static void assert_str(struct csn_str s, const char *text) {
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.ptr, text, s.len);
}

static void functions_and_files(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        struct csni_span file = build(&g, big);
        struct csn_index *index;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
        struct csn_function f;
        assert_int_equal(csn_index_function(index, 0, &f, NULL), CSN_OK);
        assert_str(f.name, "die");
        assert_int_equal(f.start, 0x1000);
        assert_int_equal(f.size, 0x23);
        assert_int_equal(f.record_offset, g.records[0]);
        assert_true(f.has_lines && !f.has_inlines && f.has_merged && f.has_call_sites);
        assert_int_equal(csn_index_function(index, 1, &f, NULL), CSN_OK);
        assert_true(f.has_lines && f.has_inlines && !f.has_merged && !f.has_call_sites);
        assert_int_equal(csn_index_function(index, 2, &f, NULL), CSN_OK);
        assert_str(f.name, "_fini");
        assert_int_equal(f.unknown_parts, 1);
        assert_int_equal(csn_index_function(index, 3, &f, &err), CSN_E_ARGUMENT);
        assert_string_equal(err.text, "function 3, need < 3");

        struct csn_str directory, base;
        assert_int_equal(csn_index_file(index, 0, &directory, &base, NULL), CSN_OK);
        assert_int_equal(directory.len + base.len, 0);
        assert_int_equal(csn_index_file(index, 2, &directory, &base, NULL), CSN_OK);
        assert_str(directory, "/src");
        assert_str(base, "shapes.h");
        assert_int_equal(csn_index_file(index, 3, &directory, &base, &err), CSN_E_ARGUMENT);
        assert_string_equal(err.text, "file 3, need < 3");
        assert_str(csn_index_string(index, 1), "/src");
        assert_str(csn_index_string(index, g.string_size), "");
        assert_str(csn_index_string(index, UINT64_MAX), "");
        csn_index_close(index);
        wire_gsym_deinit(&g);
    }
    csn_index_close(NULL);
}

/* A string table without a final NUL: its last string runs to its end. */
static void unterminated_string(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    wire_patch(&g.out, CSNI_GSYM_H_STRTAB_SIZE, g.string_size - 1, 4);
    file = wire_span(&g.out);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    assert_str(csn_index_string(index, g.string_size - 5), "dead");
    assert_str(csn_index_string(index, 1), "/src");
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void rows_and_inlines(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, true);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    struct csn_record record;
    assert_int_equal(csn_index_record(index, 1, &record, NULL), CSN_OK);
    struct csn_row_iter rows;
    struct csn_row row;
    static const struct csn_row want[] = { { 0x11e0, 1, 6 }, { 0x11ea, 1, 5 }, { 0x11f0, 1, 7 }, { 0x11f0, 2, 4 },
                                           { 0x11f0, 2, 5 }, { 0x11f3, 2, 3 }, { 0x1215, 2, 6 }, { 0x1215, 1, 8 } };
    assert_int_equal(csn_row_iter_init(&rows, index, &record, NULL), CSN_OK);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        assert_int_equal(csn_row_iter_next(&rows, &row, NULL), CSN_OK);
        assert_memory_equal(&row, &want[k], sizeof row);
    }
    assert_int_equal(csn_row_iter_next(&rows, &row, NULL), CSN_NONE);
    assert_int_equal(csn_row_iter_next(&rows, &row, NULL), CSN_NONE);

    struct csn_inline_iter inlines;
    struct csn_inline_node node;
    struct csn_range range;
    assert_int_equal(csn_inline_iter_init(&inlines, index, &record, NULL), CSN_OK);
    static const struct { const char *name; uint32_t depth, file, line, ranges; uint64_t start, end; } nodes[] = {
        { "total", 0, 0, 0, 1, 0x11e0, 0x1227 },
        { "area", 1, 1, 7, 2, 0x11f9, 0x1215 },
        { "scale", 2, 2, 5, 2, 0x1205, 0x1208 },
        { "scale", 2, 2, 6, 1, 0x1208, 0x1211 },
    };
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
        assert_int_equal(csn_inline_iter_next(&inlines, &node, NULL), CSN_OK);
        assert_str(node.name, nodes[k].name);
        assert_int_equal(node.depth, nodes[k].depth);
        assert_int_equal(node.call_file, nodes[k].file);
        assert_int_equal(node.call_line, nodes[k].line);
        assert_int_equal(node.range_count, nodes[k].ranges);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(csn_inline_node_range(&node, node.range_count - 1, &range, NULL), CSN_OK);
            assert_int_equal(range.start, nodes[k].start);
            assert_int_equal(range.end, nodes[k].end);
            assert_int_equal(csn_inline_node_range(&node, 0, &range, NULL), CSN_OK);
            assert_true(range.start <= nodes[k].start);
        }
        assert_int_equal(csn_inline_node_range(&node, node.range_count, &range, NULL), CSN_E_ARGUMENT);
    }
    assert_int_equal(csn_inline_iter_next(&inlines, &node, NULL), CSN_NONE);
    assert_int_equal(csn_inline_iter_next(&inlines, &node, NULL), CSN_NONE);

    /* A bare symbol has nothing of all that. */
    assert_int_equal(csn_index_record(index, 2, &record, NULL), CSN_OK);
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    struct csn_merged_iter merged;
    assert_int_equal(csn_row_iter_init(&rows, index, &record, NULL), CSN_OK);
    assert_int_equal(csn_row_iter_next(&rows, &row, NULL), CSN_NONE);
    assert_int_equal(csn_inline_iter_init(&inlines, index, &record, NULL), CSN_OK);
    assert_int_equal(csn_inline_iter_next(&inlines, &node, NULL), CSN_NONE);
    assert_int_equal(csn_call_site_iter_init(&sites, index, &record, NULL), CSN_OK);
    assert_int_equal(csn_call_site_iter_next(&sites, &site, NULL), CSN_NONE);
    assert_int_equal(csn_merged_iter_init(&merged, index, &record, NULL), CSN_OK);
    assert_int_equal(csn_merged_iter_next(&merged, &record, NULL), CSN_NONE);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void call_sites_and_merged(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        struct csni_span file = build(&g, big);
        struct csn_index *index;
        assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
        struct csn_record record, child;
        assert_int_equal(csn_index_record(index, 0, &record, NULL), CSN_OK);
        struct csn_call_site_iter sites;
        struct csn_call_site site;
        struct csn_str pattern;
        assert_int_equal(csn_call_site_iter_init(&sites, index, &record, NULL), CSN_OK);
        assert_int_equal(csn_call_site_iter_next(&sites, &site, NULL), CSN_OK);
        assert_int_equal(site.return_offset, 0x10);
        assert_int_equal(site.flags, CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
        assert_int_equal(site.pattern_count, 2);
        assert_int_equal(csn_call_site_pattern(index, &site, 1, &pattern, NULL), CSN_OK);
        assert_str(pattern, "dead");
        assert_int_equal(csn_call_site_pattern(index, &site, 0, &pattern, NULL), CSN_OK);
        assert_str(pattern, "^total$");
        assert_int_equal(csn_call_site_pattern(index, &site, 2, &pattern, NULL), CSN_E_ARGUMENT);
        assert_int_equal(csn_call_site_iter_next(&sites, &site, NULL), CSN_OK);
        assert_int_equal(site.return_offset, 0x1c);
        assert_int_equal(site.flags | site.pattern_count, 0);
        assert_int_equal(csn_call_site_iter_next(&sites, &site, NULL), CSN_NONE);

        struct csn_merged_iter merged;
        assert_int_equal(csn_merged_iter_init(&merged, index, &record, NULL), CSN_OK);
        assert_int_equal(csn_merged_iter_next(&merged, &child, NULL), CSN_OK);
        struct csn_function f;
        assert_int_equal(csn_record_function(index, &child, &f, NULL), CSN_OK);
        assert_str(f.name, "dead");
        assert_int_equal(f.start, 0x1000);
        assert_int_equal(f.size, 0x23);
        assert_true(f.has_lines);
        struct csn_row_iter rows;
        struct csn_row row;
        assert_int_equal(csn_row_iter_init(&rows, index, &child, NULL), CSN_OK);
        assert_int_equal(csn_row_iter_next(&rows, &row, NULL), CSN_OK);
        assert_int_equal(row.line, 10);
        assert_int_equal(csn_merged_iter_next(&merged, &child, NULL), CSN_NONE);
        csn_index_close(index);
        wire_gsym_deinit(&g);
    }
}

static void options(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    struct { struct csn_index_options known; size_t more; } longer = { CSN_INDEX_OPTIONS_INIT, 0 };
    longer.known.struct_size = sizeof longer;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &longer.known, &index, NULL), CSN_OK);
    csn_index_close(index);
    *(uint8_t *)&longer.more = 1; /* the same byte on every machine */
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &longer.known, &index, &err), CSN_E_UNSUPPORTED);
    char message[100];
    snprintf(message, sizeof message, "byte %zu of the options is set, this version knows %zu", sizeof longer.known,
             sizeof longer.known);
    assert_string_equal(err.text, message);
    longer.known.struct_size = 0;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &longer.known, &index, &err), CSN_E_ARGUMENT);
    /* Of an older caller only what it has is read. */
    longer.known.struct_size = sizeof longer.known.struct_size;
    longer.known.allocator = (const struct csn_allocator *)(uintptr_t)1;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &longer.known, &index, NULL), CSN_OK);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static csn_status open_and_close(void *context, const struct csn_allocator *alloc) {
    struct csni_span *file = context;
    struct csn_index_options known = CSN_INDEX_OPTIONS_INIT;
    known.allocator = alloc;
    struct csn_index *index;
    csn_status status = csn_index_open_memory(file->ptr, file->size, &known, &index, NULL);
    if (status == CSN_OK) csn_index_close(index);
    return status;
}

static void memory(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    assert_int_equal(test_allocator_sweep(open_and_close, &file, 0), 2);
    struct test_allocator t;
    struct csn_index_options known = CSN_INDEX_OPTIONS_INIT;
    struct csn_index *index;
    test_allocator_init(&t);
    known.allocator = &t.base;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &known, &index, NULL), CSN_OK);
    assert_int_equal(t.calls, 1); /* the handle */
    struct csn_frame frames[4];
    struct csn_verify_counts counts;
    size_t count;
    for (uint64_t addr = 0xf00; addr < 0x1300; addr++) (void)csn_index_lookup(index, addr, frames, 4, &count, NULL);
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(t.calls, 1);
    csn_index_close(index);
    test_allocator_check_empty(&t);
    wire_gsym_deinit(&g);
}

static void files(void **state) {
    (void)state;
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_index_open_file("/nonexistent/x.gsym", NULL, &index, &err), CSN_E_IO);
    assert_int_not_equal(err.os_error, 0);
    assert_true(csn_index_open_file("/", NULL, &index, &err) < 0);
    assert_null(index);

    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    char path[] = "test_index_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(csn_index_open_file(path, NULL, &index, &err), CSN_E_TRUNCATED);
    assert_int_equal(write(fd, file.ptr, file.size), (ssize_t)file.size);
    close(fd);
    assert_int_equal(csn_index_open_file(path, NULL, &index, &err), CSN_OK);
    unlink(path);
    struct csn_frame frame;
    size_t count;
    assert_int_equal(csn_index_lookup(index, 0x1000, &frame, 1, &count, NULL), CSN_OK);
    assert_str(frame.base, "demo.c");
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void *look_up_all(void *context) {
    const struct csn_index *index = context;
    uintptr_t frames_seen = 0;
    for (int round = 0; round < 50; round++)
        for (uint64_t addr = 0xf00; addr < 0x1300; addr++) {
            struct csn_frame frames[4];
            size_t count;
            if (csn_index_lookup(index, addr, frames, 4, &count, NULL) == CSN_OK) frames_seen += count;
        }
    return (void *)frames_seen;
}

/* A program built against an older header has fewer fields, one built against a newer header more. */
static void sized_info(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    struct csn_index_info whole;
    csn_index_get_info(index, &whole, sizeof whole);
    assert_int_equal(whole.file_size, file.size);
    for (size_t size = 0; size <= sizeof whole; size++) {
        struct csn_index_info part;
        memset(&part, 0xaa, sizeof part);
        csn_index_get_info(index, &part, size);
        assert_memory_equal(&part, &whole, size);
        for (size_t i = size; i < sizeof part; i++) assert_int_equal(((uint8_t *)&part)[i], 0xaa);
    }
    struct { struct csn_index_info known; uint64_t more; } newer = { .more = 7 };
    csn_index_get_info(index, &newer.known, sizeof newer);
    assert_memory_equal(&newer.known, &whole, sizeof whole);
    assert_int_equal(newer.more, 0);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void expect_path(const char *directory, const char *base, const char *want) {
    struct csn_frame frame = { .directory = { directory, strlen(directory) }, .base = { base, strlen(base) } };
    size_t len = strlen(want);
    assert_int_equal(csn_frame_path(&frame, NULL, 0), len);
    for (size_t cap = 1; cap < len + 3; cap++) {
        char out[64];
        memset(out, '#', sizeof out);
        assert_int_equal(csn_frame_path(&frame, out, cap), len);
        size_t stored = len < cap ? len : cap - 1;
        assert_memory_equal(out, want, stored);
        assert_int_equal(out[stored], 0);
        for (size_t i = stored + 1; i < sizeof out; i++) assert_int_equal(out[i], '#');
    }
}

static void paths(void **state) {
    (void)state;
    expect_path("/src", "a.c", "/src/a.c");
    expect_path("/src/", "a.c", "/src/a.c");
    expect_path("", "a.c", "a.c");
    expect_path("/src", "", "/src");
    expect_path("", "", "");
    expect_path("C:\\src", "a.c", "C:\\src\\a.c");
    expect_path("C:\\src\\", "a.c", "C:\\src\\a.c");
    expect_path("/odd\\name", "a.c", "/odd\\name/a.c");
}

/* "x" in brackets; "no" is not known. */
static csn_status in_brackets(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    ++*(int *)context;
    if (name.len == 2) return CSN_NONE;
    *out_len = name.len + 2;
    if (*out_len > cap) return CSN_E_LIMIT;
    out[0] = '<';
    memcpy(out + 1, name.ptr, name.len);
    out[name.len + 1] = '>';
    return CSN_OK;
}

/* The lookup-only library demangles through a callback of the caller. */
static void names_for_people(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    struct csn_index *plain, *index;
    struct csn_index_options known = CSN_INDEX_OPTIONS_INIT;
    int calls = 0;
    known.demangle = in_brackets;
    known.demangle_context = &calls;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &plain, NULL), CSN_OK);
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &known, &index, NULL), CSN_OK);
    struct csn_frame main_frame = { .name = CSN_STR("main") }, no = { .name = CSN_STR("no") };
    char out[16];
    assert_int_equal(csn_index_frame_name(plain, &main_frame, out, sizeof out), 4);
    assert_string_equal(out, "main");
    assert_int_equal(csn_index_frame_name(plain, &main_frame, out, 3), 4);
    assert_string_equal(out, "ma");
    assert_int_equal(calls, 0);
    assert_int_equal(csn_index_frame_name(index, &main_frame, NULL, 0), 6);
    for (size_t cap = 1; cap < 7; cap++) {
        assert_int_equal(csn_index_frame_name(index, &main_frame, out, cap), 6);
        assert_string_equal(out, "");
    }
    assert_int_equal(csn_index_frame_name(index, &main_frame, out, 7), 6);
    assert_string_equal(out, "<main>");
    assert_int_equal(calls, 8);
    assert_int_equal(csn_index_frame_name(index, &no, out, sizeof out), 2);
    assert_string_equal(out, "no");
    csn_index_close(index);
    csn_index_close(plain);
    wire_gsym_deinit(&g);
}

static void threads(void **state) {
    (void)state;
    struct wire_gsym g;
    struct csni_span file = build(&g, false);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    pthread_t thread[4];
    void *seen[4];
    for (int k = 0; k < 4; k++) assert_int_equal(pthread_create(&thread[k], NULL, look_up_all, index), 0);
    for (int k = 0; k < 4; k++) assert_int_equal(pthread_join(thread[k], &seen[k]), 0);
    /* 0x23 + 0x47 + 9 addresses, 33 more for "area" and 21 more for "scale" */
    for (int k = 0; k < 4; k++) assert_int_equal((uintptr_t)seen[k], 50 * (0x23 + 0x47 + 9 + 33 + 21));
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_files), cmocka_unit_test(unterminated_string), cmocka_unit_test(rows_and_inlines),
        cmocka_unit_test(call_sites_and_merged), cmocka_unit_test(options), cmocka_unit_test(memory),
        cmocka_unit_test(files), cmocka_unit_test(sized_info), cmocka_unit_test(paths), cmocka_unit_test(names_for_people),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
