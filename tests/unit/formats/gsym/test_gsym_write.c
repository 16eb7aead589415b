/* formats/gsym/write/gsym_write.c: layout byte by byte, limits, and that what was written reads back equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include <callsign/inspect.h>

#include "base/core/fail.h"
#include "base/sink.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_write.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"
#include "wire/wire.h"

static enum csni_gsym_target target = CSNI_GSYM_WRITE_V1; /* of what a test writes */

static csn_status write_linked(struct model_sample *s, struct csni_pool *pool, struct csn_bytes *out,
                               struct csn_error *err) {
    *out = (struct csn_bytes){ NULL, 0, s->alloc };
    struct csni_sink sink = csni_memory_sink(out);
    csn_status status = csni_gsym_write(&s->model, target, pool, &sink, &s->report, err);
    if (status < 0) csn_bytes_free(out);
    return status;
}

static struct csn_bytes written(struct model_sample *s) {
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(model_sample_link(s), CSN_OK);
    if (write_linked(s, NULL, &out, &err) != CSN_OK) fail_msg("%s", err.text);
    return out;
}

static bool print_problem(void *context, const struct csn_error *err) {
    (void)context;
    print_error("problem: %s\n", err->text);
    return true;
}

static struct csn_index *open_verified(const struct csn_bytes *bytes, struct csn_verify_counts *counts) {
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, print_problem, NULL, counts, NULL), CSN_OK);
    assert_int_equal(counts->problems, 0);
    return index;
}

static void verify_and_free(struct csn_bytes *bytes) {
    struct csn_verify_counts counts;
    csn_index_close(open_verified(bytes, &counts));
    csn_bytes_free(bytes);
}

/* ---- layout ---- */

static void fill_two_functions(struct model_sample *s, uint64_t distance) {
    uint32_t file = model_sample_file(s, "/d", "f.c");
    model_sample_function(s, 0x1000 + distance, 0, "g");
    model_sample_function(s, 0x1000, 0x10, "f");
    for (uint32_t i = 0; i < 3; i++) csni_batch_add_row(&s->writer, 4 * i, file, 5 + i);
    model_sample_inline(s, "x", file, 7, 4, 8);
    csni_batch_add_call_site(&s->writer, 6, CSN_CALL_SITE_EXTERNAL);
    csni_batch_add_pattern(&s->writer, model_sample_string(s, "p"));
}

/* The same by hand. Strings: 0 "", 1 "/d", 4 "f.c", 8 "f", 10 "x", 12 "p", 14 "g"; 16 bytes. */
static void expect_two_functions(struct wire *w, bool big, unsigned width, uint64_t distance, uint32_t infos,
                                 uint32_t strings, uint32_t records) {
    static const uint8_t lines[] = { 0, 1, 5, 0x04, 0x0d, 0x0d, 0 };
    static const char names[16] = "\0/d\0f.c\0f\0x\0p\0g";
    wire_init(w, big);
    wire_u32(w, 0x4753594d);
    wire_u16(w, 1);
    wire_u8(w, width);
    wire_u8(w, 3);
    wire_u64(w, 0x1000);
    wire_u32(w, 2);
    wire_u32(w, strings);
    wire_u32(w, 16);
    wire_bytes(w, "\xaa\xbb\xcc\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    wire_uint(w, 0, width);
    wire_uint(w, distance, width);
    wire_fill(w, 0, infos - w->size);
    wire_u32(w, records);
    wire_u32(w, records + 92); /* 89 and 3 of padding */
    wire_u32(w, 2);
    wire_u64(w, 0);
    wire_u32(w, 1);
    wire_u32(w, 4);
    assert_int_equal(w->size, strings);
    wire_bytes(w, names, sizeof names);
    assert_int_equal(w->size, records);
    wire_u32(w, 0x10);
    wire_u32(w, 8);
    wire_u32(w, CSNI_GSYM_PART_LINES);
    wire_u32(w, sizeof lines);
    wire_bytes(w, lines, sizeof lines);
    wire_u32(w, CSNI_GSYM_PART_INLINE);
    wire_u32(w, 21);
    wire_bytes(w, (const uint8_t[]){ 1, 0, 0x10, 1 }, 4);
    wire_u32(w, 8);
    wire_bytes(w, (const uint8_t[]){ 0, 0, 1, 4, 4, 0 }, 6);
    wire_u32(w, 10);
    wire_bytes(w, (const uint8_t[]){ 1, 7, 0 }, 3);
    wire_u32(w, CSNI_GSYM_PART_CALL_SITES);
    wire_u32(w, 21);
    wire_u32(w, 1);
    wire_u64(w, 6);
    wire_u8(w, CSN_CALL_SITE_EXTERNAL);
    wire_u32(w, 1);
    wire_u32(w, 12);
    wire_u64(w, 0);
    wire_fill(w, 0, 3);
    wire_u32(w, 0);
    wire_u32(w, 14);
    wire_u64(w, 0);
}

static void expect_layout(bool big, unsigned width, uint64_t distance, uint32_t infos, uint32_t strings, uint32_t records) {
    static const uint8_t uuid[] = { 0xaa, 0xbb, 0xcc };
    struct model_sample s;
    struct wire want;
    model_sample_init(&s, NULL);
    s.model.image.big_endian = big;
    s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
    fill_two_functions(&s, distance);
    struct csn_bytes out = written(&s);
    expect_two_functions(&want, big, width, distance, infos, strings, records);
    assert_int_equal(out.size, want.size);
    for (size_t i = 0; i < out.size; i++)
        if (out.ptr[i] != want.bytes[i])
            fail_msg("width %u, big %d: byte 0x%zx is 0x%02x, need 0x%02x", width, big, i, out.ptr[i], want.bytes[i]);
    assert_int_equal(s.report.output_bytes, out.size);
    assert_int_equal(s.report.string_bytes, 16);
    assert_int_equal(s.report.line_bytes, 7);
    assert_int_equal(s.report.inline_bytes, 21);
    assert_int_equal(s.report.rows_written, 3);
    assert_int_equal(s.report.inline_nodes_written, 1);
    assert_int_equal(s.report.call_sites_written, 1);
    assert_int_equal(s.report.files_written, 1);
    assert_int_equal(s.report.functions_written, 2);
    verify_and_free(&out);
    wire_deinit(&want);
    model_sample_deinit(&s);
}

static void layout(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        expect_layout(big, 1, 0x40, 52, 80, 96);
        expect_layout(big, 1, 0xff, 52, 80, 96);
        expect_layout(big, 2, 0x100, 52, 80, 96);
        expect_layout(big, 2, 0xffff, 52, 80, 96);
        expect_layout(big, 4, 0x10000, 56, 84, 100);
        expect_layout(big, 4, 0xffffffff, 56, 84, 100);
        expect_layout(big, 8, 0x100000000, 64, 92, 108);
        expect_layout(big, 8, 0xfffffffffffff000 - 16, 64, 92, 108);
    }
}

/* The base address counts for the width, unless a function lies below it. */
static void base_address(void **state) {
    (void)state;
    static const struct { uint64_t base, want; uint8_t width; } cases[] = {
        { 0, 0, 2 }, { 0xfff, 0xfff, 1 }, { 0x1000, 0x1000, 1 }, { 0x1001, 0x1000, 1 }, { UINT64_MAX, 0x1000, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct model_sample s;
        struct csn_verify_counts counts;
        struct csn_index_info info;
        struct csn_function f;
        model_sample_init(&s, NULL);
        s.model.image.has_base_address = true;
        s.model.image.base_address = cases[i].base;
        fill_two_functions(&s, 0x40);
        struct csn_bytes out = written(&s);
        struct csn_index *index = open_verified(&out, &counts);
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.base_address, cases[i].want);
        assert_int_equal(info.address_size, cases[i].width);
        assert_int_equal(csn_index_function(index, 0, &f, NULL), CSN_OK);
        assert_int_equal(f.start, 0x1000);
        csn_index_close(index);
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

/* ---- limits ---- */

static void build_ids(void **state) {
    (void)state;
    static const uint8_t uuid[21] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21 };
    for (size_t size = 0; size <= 21; size += 7) {
        struct model_sample s;
        struct csn_bytes out;
        struct csn_error err = CSN_ERROR_INIT;
        model_sample_init(&s, NULL);
        s.model.image.uuid = (struct csni_span){ size ? uuid : NULL, size };
        fill_two_functions(&s, 0x40);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        csn_status status = write_linked(&s, NULL, &out, &err);
        if (size > 20) {
            assert_int_equal(status, CSN_E_LIMIT);
            assert_string_equal(err.text, "the build id has 21 bytes, GSYM version 1 holds 20; version 2 (--to gsym-v2) has room");
        } else {
            struct csn_index_info info;
            struct csn_verify_counts counts;
            assert_int_equal(status, CSN_OK);
            struct csn_index *index = open_verified(&out, &counts);
            csn_index_get_info(index, &info, sizeof(info));
            assert_int_equal(info.uuid_size, size);
            assert_memory_equal(info.uuid, uuid, size);
            csn_index_close(index);
        }
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

static void nothing_to_write(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    model_sample_init(&s, NULL);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    assert_int_equal(write_linked(&s, NULL, &out, &err), CSN_E_NOT_FOUND);
    assert_string_equal(err.text, "no functions found, nothing to write");
    assert_null(out.ptr);
    model_sample_deinit(&s);
}

static void too_many_string_bytes(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    model_sample_init(&s, NULL);
    fill_two_functions(&s, 0x40);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    s.model.strings[1].len = UINT32_MAX; /* refused before a byte of it is looked at */
    assert_int_equal(write_linked(&s, NULL, &out, &err), CSN_E_LIMIT);
    assert_string_equal(err.text, "StringTable+0x0: names need 4294967309 bytes, GSYM version 1 holds 4294967295; "
                                  "version 2 (--to gsym-v2) has room");
    model_sample_deinit(&s);
}

/* A sink that fails at its nth call. */
struct failing_sink { int calls, fail_at; };
static csn_status sink_call(struct failing_sink *f, struct csn_error *err) {
    if (++f->calls != f->fail_at) return CSN_OK;
    if (err) err->code = CSN_E_IO;
    return CSN_E_IO;
}
static csn_status failing_reserve(void *context, uint64_t size, struct csn_error *err) {
    (void)size;
    return sink_call(context, err);
}
static csn_status failing_write(void *context, uint64_t off, const void *bytes, size_t size, struct csn_error *err) {
    (void)off, (void)bytes, (void)size;
    return sink_call(context, err);
}

static void a_failing_sink(void **state) {
    (void)state;
    for (int fail_at = 1; ; fail_at++) {
        struct test_allocator t;
        struct model_sample s;
        struct failing_sink failing = { 0, fail_at };
        struct csni_sink sink = { failing_reserve, failing_write, &failing, false };
        test_allocator_init(&t);
        model_sample_init(&s, &t.base);
        fill_two_functions(&s, 0x40);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        csn_status status = csni_gsym_write(&s.model, CSNI_GSYM_WRITE_V1, NULL, &sink, &s.report, NULL);
        assert_int_equal(status, failing.calls < fail_at ? CSN_OK : CSN_E_IO);
        model_sample_deinit(&s);
        test_allocator_check_empty(&t);
        if (status == CSN_OK) {
            assert_int_equal(fail_at, 5); /* reserve, tables, strings, records */
            return;
        }
    }
}

/* ---- a sink that takes bytes in any order ---- */

enum { LOOSE_ROOM = 16 << 20 };
struct loose_sink {
    uint8_t *bytes;
    uint64_t end;
    uint32_t calls, fail_at, before_reserve;
    bool reserved;
};

static csn_status loose_reserve(void *context, uint64_t size, struct csn_error *err) {
    (void)err;
    struct loose_sink *loose = context;
    loose->reserved = true;
    return size <= LOOSE_ROOM ? CSN_OK : CSN_E_LIMIT;
}
static csn_status loose_write(void *context, uint64_t off, const void *bytes, size_t size, struct csn_error *err) {
    struct loose_sink *loose = context;
    if (++loose->calls == loose->fail_at) return csni_fail(err, CSN_E_IO, NULL, 0, "full");
    if (off + size > LOOSE_ROOM) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "too far");
    if (!loose->reserved) loose->before_reserve++;
    if (size) memcpy(loose->bytes + off, bytes, size);
    if (off + size > loose->end) loose->end = off + size;
    return CSN_OK;
}

/* Runs enough that there is a sample long before the last, which is what delivery waits for. */
static void fill_many_runs(struct model_sample *s) {
    enum { MANY = 12000, ROWS = 60 };
    static char names[MANY][12];
    uint32_t file = model_sample_file(s, "/d", "f.c");
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        model_sample_function(s, 0x1000 + (uint64_t)i * ROWS, ROWS, names[i]);
        for (uint32_t k = 0; k < ROWS; k++) csni_batch_add_row(&s->writer, k, file, 1 + i * k * 37 % 5000);
    }
}

/* The same bytes, wherever delivery fails or does not, on any number of threads. */
static void early_delivery(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    fill_many_runs(&s);
    struct csn_bytes want = written(&s);
    struct loose_sink loose = { .bytes = malloc(LOOSE_ROOM) };
    assert_non_null(loose.bytes);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct csni_pool *pool;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csni_pool_create(threads, NULL, &pool, NULL), CSN_OK);
        for (loose.fail_at = 0; ; loose.fail_at++) {
            loose.calls = loose.before_reserve = 0;
            loose.end = 0;
            loose.reserved = false;
            struct csni_sink sink = { loose_reserve, loose_write, &loose, true };
            csn_status status = csni_gsym_write(&s.model, target, pool, &sink, &s.report, &err);
            bool failed = loose.fail_at && loose.calls >= loose.fail_at;
            assert_int_equal(status, failed ? CSN_E_IO : CSN_OK);
            if (failed) continue;
            assert_true(loose.before_reserve > 4);
            assert_int_equal(loose.end, want.size);
            assert_memory_equal(loose.bytes, want.ptr, want.size);
            if (loose.fail_at) break;
        }
        csni_pool_destroy(pool);
    }
    free(loose.bytes);
    csn_bytes_free(&want);
    model_sample_deinit(&s);
}

/* ---- reading back ---- */

static bool same_as(struct csn_str s, const struct csni_model *m, uint32_t number) {
    return csni_str_equal(s, m->strings[number]);
}

static void expect_same_rows(const struct csn_index *index, const struct csn_record *record, const struct csni_batch *b,
                             const struct csni_function *f) {
    struct csn_row_iter iter;
    struct csn_row row;
    assert_int_equal(csn_row_iter_init(&iter, index, record, NULL), CSN_OK);
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *want = &b->rows[f->first_row + i];
        assert_int_equal(csn_row_iter_next(&iter, &row, NULL), CSN_OK);
        assert_int_equal(row.addr, f->start + want->off);
        assert_int_equal(row.file, b->file_numbers[want->file]);
        assert_int_equal(row.line, want->line);
    }
    assert_int_equal(csn_row_iter_next(&iter, &row, NULL), CSN_NONE);
}

static void expect_same_node(const struct csni_model *m, struct csn_inline_node *node, const struct csni_batch *b,
                             const struct csni_function *f, uint32_t i) {
    const struct csni_inline_node *want = &b->inlines[f->first_inline + i];
    struct csn_range range;
    assert_true(same_as(node->name, m, b->string_numbers[want->name]));
    assert_int_equal(node->call_file, b->file_numbers[want->call_file]);
    assert_int_equal(node->call_line, want->call_line);
    assert_int_equal(node->range_count, want->part_count);
    for (uint32_t k = 0; k < want->part_count; k++) {
        assert_int_equal(csn_inline_node_range(node, k, &range, NULL), CSN_OK);
        assert_int_equal(range.start, f->start + b->parts[want->first_part + k].start);
        assert_int_equal(range.end, f->start + b->parts[want->first_part + k].end);
    }
}

static void expect_same_inlines(const struct csn_index *index, const struct csn_record *record, const struct csni_model *m,
                                const struct csni_batch *b, const struct csni_function *f) {
    struct csn_inline_iter iter;
    struct csn_inline_node node;
    struct csn_range range;
    uint32_t ends[CSN_INLINE_DEPTH_MAX] = { f->inline_count }, depth = 1; /* of lists of siblings, by depth */
    assert_int_equal(csn_inline_iter_init(&iter, index, record, NULL), CSN_OK);
    if (f->inline_count) {
        assert_int_equal(csn_inline_iter_next(&iter, &node, NULL), CSN_OK);
        assert_int_equal(node.depth, 0);
        assert_true(same_as(node.name, m, b->string_numbers[f->name]));
        assert_int_equal(csn_inline_node_range(&node, 0, &range, NULL), CSN_OK);
        assert_int_equal(range.start, f->start);
        assert_int_equal(range.end, f->start + f->size);
    }
    for (uint32_t i = 0; i < f->inline_count; i++) {
        while (ends[depth - 1] == i) depth--;
        assert_int_equal(csn_inline_iter_next(&iter, &node, NULL), CSN_OK);
        assert_int_equal(node.depth, depth);
        expect_same_node(m, &node, b, f, i);
        uint32_t descendants = b->inlines[f->first_inline + i].descendants;
        if (descendants) ends[depth++] = i + 1 + descendants;
    }
    assert_int_equal(csn_inline_iter_next(&iter, &node, NULL), CSN_NONE);
}

static void expect_same_sites(const struct csn_index *index, const struct csn_record *record, const struct csni_model *m,
                              const struct csni_batch *b, const struct csni_function *f) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    struct csn_str pattern;
    assert_int_equal(csn_call_site_iter_init(&iter, index, record, NULL), CSN_OK);
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *want = &b->sites[f->first_site + i];
        assert_int_equal(csn_call_site_iter_next(&iter, &site, NULL), CSN_OK);
        assert_int_equal(site.return_offset, want->return_off);
        assert_int_equal(site.flags, want->flags);
        assert_int_equal(site.pattern_count, want->pattern_count);
        for (uint32_t k = 0; k < want->pattern_count; k++) {
            assert_int_equal(csn_call_site_pattern(index, &site, k, &pattern, NULL), CSN_OK);
            assert_true(same_as(pattern, m, b->string_numbers[b->patterns[want->first_pattern + k]]));
        }
    }
    assert_int_equal(csn_call_site_iter_next(&iter, &site, NULL), CSN_NONE);
}

static void expect_same_record(const struct csn_index *index, const struct csn_record *record, const struct csni_model *m,
                               const struct csni_entry *e) {
    const struct csni_batch *b = &m->batches[e->batch];
    const struct csni_function *f = &b->functions[e->function];
    struct csn_function got;
    struct csn_merged_iter iter;
    struct csn_record child;
    assert_int_equal(csn_record_function(index, record, &got, NULL), CSN_OK);
    assert_int_equal(got.start, f->start);
    assert_int_equal(got.size, f->size);
    assert_true(same_as(got.name, m, b->string_numbers[f->name]));
    assert_int_equal(got.has_lines, f->row_count > 0);
    assert_int_equal(got.has_inlines, f->inline_count > 0);
    assert_int_equal(got.has_call_sites, f->site_count > 0);
    assert_int_equal(got.has_merged, e->child_count > 0);
    expect_same_rows(index, record, b, f);
    expect_same_inlines(index, record, m, b, f);
    expect_same_sites(index, record, m, b, f);
    assert_int_equal(csn_merged_iter_init(&iter, index, record, NULL), CSN_OK);
    for (uint32_t i = 0; i < e->child_count; i++) {
        assert_int_equal(csn_merged_iter_next(&iter, &child, NULL), CSN_OK);
        expect_same_record(index, &child, m, &m->children[e->first_child + i]);
    }
    assert_int_equal(csn_merged_iter_next(&iter, &child, NULL), CSN_NONE);
}

static void expect_same(const struct csn_bytes *bytes, const struct csni_model *m) {
    struct csn_verify_counts counts;
    struct csn_index_info info;
    struct csn_index *index = open_verified(bytes, &counts);
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.big_endian, m->image.big_endian);
    assert_int_equal(info.function_count, m->entry_count);
    assert_int_equal(info.file_count, m->file_count);
    assert_int_equal(counts.strings, m->string_count);
    for (uint32_t i = 0; i < m->file_count; i++) {
        struct csn_str directory, base;
        assert_int_equal(csn_index_file(index, i, &directory, &base, NULL), CSN_OK);
        assert_true(same_as(directory, m, m->files[i].directory));
        assert_true(same_as(base, m, m->files[i].base));
    }
    for (uint32_t i = 0; i < m->entry_count; i++) {
        struct csn_record record;
        assert_int_equal(csn_index_record(index, i, &record, NULL), CSN_OK);
        expect_same_record(index, &record, m, &m->entries[i]);
    }
    csn_index_close(index);
}

/* ---- nests ---- */

static void expect_nest(uint32_t levels) {
    struct model_sample s;
    uint32_t nodes[CSN_INLINE_DEPTH_MAX];
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/d", "f.c"), name = model_sample_string(&s, "inlined");
    model_sample_function(&s, 0x1000, 4 * levels + 8, "f");
    csni_batch_add_row(&s.writer, 0, file, 1);
    for (uint32_t i = 0; i < levels; i++) {
        nodes[i] = csni_batch_begin_inline(&s.writer, name, file, i);
        csni_batch_add_part(&s.writer, i, 4 * levels - i);
    }
    for (uint32_t i = levels; i-- > 0;) csni_batch_end_inline(&s.writer, nodes[i]);
    struct csn_bytes out = written(&s);
    expect_same(&out, &s.model);
    struct csn_index *index;
    static struct csn_frame frames[CSN_INLINE_DEPTH_MAX];
    size_t count;
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_lookup(index, 0x1000 + 2 * levels, frames, CSN_INLINE_DEPTH_MAX, &count, NULL), CSN_OK);
    assert_int_equal(count, levels + 1);
    assert_int_equal(frames[1].line, levels - 1);
    assert_int_equal(frames[levels].line, 0);
    csn_index_close(index);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

static void deep_nests(void **state) {
    (void)state;
    expect_nest(1);
    expect_nest(2);
    expect_nest(127);
    expect_nest(500);
    expect_nest(CSN_INLINE_DEPTH_MAX - 1);
}

/* Several ranges at each level; those of a child count from the first of its parent. */
static void nodes_of_many_ranges(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/d", "f.c");
    model_sample_function(&s, 0x1000, 0x4000, "f");
    csni_batch_add_row(&s.writer, 0, file, 1);
    uint32_t outer = csni_batch_begin_inline(&s.writer, model_sample_string(&s, "outer"), file, 300);
    for (uint32_t i = 0; i < 100; i++) csni_batch_add_part(&s.writer, 0x200 + 0x20 * i, 0x210 + 0x20 * i);
    uint32_t inner = csni_batch_begin_inline(&s.writer, model_sample_string(&s, "inner"), file, 70000);
    for (uint32_t i = 50; i < 100; i++) csni_batch_add_part(&s.writer, 0x202 + 0x20 * i, 0x208 + 0x20 * i);
    model_sample_inline(&s, "innermost", file, UINT32_MAX, 0x202 + 0x20 * 99, 0x203 + 0x20 * 99);
    csni_batch_end_inline(&s.writer, inner);
    csni_batch_end_inline(&s.writer, outer);
    model_sample_inline(&s, "after", 0, 0, 0x3fff, 0x4000);
    struct csn_bytes out = written(&s);
    expect_same(&out, &s.model);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

/* ---- merged functions ---- */

static void merged_functions(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/d", "f.c");
    static const char *const names[] = { "one", "two", "three" };
    for (uint32_t i = 0; i < 3; i++) {
        model_sample_function(&s, 0x1000, 0x10, names[i]);
        model_sample_rows(&s, file, 10 * i, i + 1);
        if (i) model_sample_inline(&s, "inlined", file, i, 2, 3);
        csni_batch_add_call_site(&s.writer, i, 0);
    }
    model_sample_function(&s, 0x2000, 1, "alone");
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    assert_string_equal(model_sample_entries(&s), "three@1000+10 alone@2000+1");
    s.model.children = csni_alloc_zeroed(NULL, 2, sizeof *s.model.children);
    assert_non_null(s.model.children);
    s.model.child_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        s.model.children[i] = (struct csni_entry){ .batch = 0, .function = i };
        s.batches[0].functions[i].kept = true;
    }
    s.model.entries[0].child_count = 2;
    struct csn_bytes out;
    assert_int_equal(csni_model_link(&s.model, NULL, &s.arena, NULL), CSN_OK);
    target = CSNI_GSYM_WRITE_V2;
    assert_int_equal(write_linked(&s, NULL, &out, NULL), CSN_OK);
    expect_same(&out, &s.model);
    csn_bytes_free(&out);
    s.report = (struct csn_convert_report){ 0 };
    target = CSNI_GSYM_WRITE_V1;
    assert_int_equal(write_linked(&s, NULL, &out, NULL), CSN_OK);
    expect_same(&out, &s.model);
    struct csn_verify_counts counts;
    struct csn_index *index = open_verified(&out, &counts);
    assert_int_equal(counts.merged_functions, 2);
    assert_int_equal(counts.rows, 6);
    assert_int_equal(s.report.rows_written, 6);
    csn_index_close(index);
    csn_bytes_free(&out);
    model_sample_deinit(&s);
}

/* ---- random models ---- */

/* Two runs of records and a bit, in three batches, written by one, two and seven workers. */
static void random_models(void **state) {
    (void)state;
    for (int round = 0; round < 6; round++) {
        struct model_sample s;
        uint64_t seed = 0x1234567 + (uint64_t)round;
        target = round < 4 ? CSNI_GSYM_WRITE_V1 : CSNI_GSYM_WRITE_V2;
        model_sample_init(&s, NULL);
        s.model.image.big_endian = round & 1;
        for (int batch = 0; batch < 3; batch++) {
            if (batch) model_sample_next_batch(&s);
            model_sample_random_names(&s, batch);
            for (uint32_t i = 0; i < 800; i++)
                model_sample_random_function(
                    &s, 0x400000 + ((uint64_t)i * 3 + (uint64_t)batch) * (round < 2 ? 512 : 0x10000000), &seed);
        }
        struct csn_bytes out = written(&s), again;
        assert_true(s.model.entry_count > 2300);
        expect_same(&out, &s.model);
        for (uint32_t threads = 2; threads <= 7; threads += 5) {
            struct csni_pool *pool;
            assert_int_equal(csni_pool_create(threads, NULL, &pool, NULL), CSN_OK);
            assert_int_equal(write_linked(&s, pool, &again, NULL), CSN_OK);
            assert_int_equal(again.size, out.size);
            assert_memory_equal(again.ptr, out.ptr, out.size);
            csn_bytes_free(&again);
            csni_pool_destroy(pool);
        }
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
    target = CSNI_GSYM_WRITE_V1;
}

static csn_status write_step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct model_sample s;
    struct csn_bytes out;
    model_sample_init(&s, alloc);
    fill_two_functions(&s, 0x40);
    csn_status status = model_sample_link(&s);
    if (status >= 0) status = write_linked(&s, NULL, &out, NULL);
    if (status >= 0) csn_bytes_free(&out);
    model_sample_deinit(&s);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(write_step, NULL, 0) > 20);
    assert_true(test_allocator_sweep(write_step, NULL, 1) > 20);
    target = CSNI_GSYM_WRITE_V2;
    assert_true(test_allocator_sweep(write_step, NULL, 0) > 20);
    target = CSNI_GSYM_WRITE_V1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),
        cmocka_unit_test(base_address),
        cmocka_unit_test(build_ids),
        cmocka_unit_test(nothing_to_write),
        cmocka_unit_test(too_many_string_bytes),
        cmocka_unit_test(a_failing_sink),
        cmocka_unit_test(early_delivery),
        cmocka_unit_test(deep_nests),
        cmocka_unit_test(nodes_of_many_ranges),
        cmocka_unit_test(merged_functions),
        cmocka_unit_test(random_models),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
