/* convert/sources/source_gsym.c: an index as the input of a conversion, to another version, byte order, or both, and back. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sink.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_write.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

#include <callsign/convert.h>
#include <callsign/index.h>

static struct csn_convert_report report;

static struct csn_bytes transcode(const void *bytes, size_t size, uint32_t format, uint32_t byte_order) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    options.format = format;
    options.byte_order = byte_order;
    options.threads = 1;
    if (csn_convert_memory(bytes, size, &options, &out, &report, &err) != CSN_OK) fail_msg("%s", err.text);
    return out;
}

static void expect_equal(const struct csn_bytes *a, const struct csn_bytes *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->ptr, b->ptr, a->size);
}

static struct csn_bytes write_sample(struct model_sample *s, enum csni_gsym_target target, bool big) {
    struct csn_bytes out = { NULL, 0, NULL };
    struct csni_sink sink = csni_memory_sink(&out);
    s->model.image.big_endian = big;
    assert_int_equal(csni_gsym_write(&s->model, target, NULL, &sink, &s->report, NULL), CSN_OK);
    return out;
}

static const enum csni_gsym_target targets[] = { CSNI_GSYM_WRITE_V1, CSNI_GSYM_WRITE_V2 };

/* From each of the four forms of the model to each other, which is what writing the model in that form gives. */
static void expect_all_ways(struct model_sample *s) {
    for (int from = 0; from < 4; from++) {
        struct csn_bytes source = write_sample(s, targets[from & 1], from & 2);
        for (int to = 0; to < 4; to++) {
            struct csn_bytes want = write_sample(s, targets[to & 1], to & 2);
            struct csn_bytes got = transcode(source.ptr, source.size, to & 1 ? CSN_FORMAT_GSYM_V2 : CSN_FORMAT_GSYM_V1,
                                             to & 2 ? CSN_BYTE_ORDER_BIG : CSN_BYTE_ORDER_LITTLE);
            assert_string_equal(model_sample_events(&report), "");
            expect_equal(&got, &want);
            csn_bytes_free(&want);
            csn_bytes_free(&got);
        }
        csn_bytes_free(&source);
    }
}

static void random_models(void **state) {
    (void)state;
    for (int round = 0; round < 6; round++) {
        static const uint8_t uuid[20] = { 7 };
        uint64_t seed = 77 + (uint64_t)round;
        struct model_sample s;
        model_sample_init(&s, NULL);
        if (round & 1) s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
        s.model.image.has_base_address = round & 2;
        s.model.image.base_address = 0x1000;
        model_sample_random_names(&s, 0);
        for (uint32_t i = 0; i < 300; i++)
            model_sample_random_function(&s, 0x400000 + (uint64_t)i * (round < 4 ? 512 : 0x10000000), &seed);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        expect_all_ways(&s);
        model_sample_deinit(&s);
    }
}

/* As an index may be that others made: functions of one start, equal ones, overlapping ones, merged ones with parts of their
 * own, rows that say the same twice, files that are not used or there twice. */
static void merged_and_equal(void **state) {
    (void)state;
    for (int round = 0; round < 4; round++) {
        uint64_t seed = 1 + (uint64_t)round;
        struct model_sample s;
        model_sample_init(&s, NULL);
        s.model.image.exact = true;
        model_sample_random_names(&s, 0);
        model_sample_file(&s, "/d", "y.h");
        model_sample_file(&s, "", "not used");
        for (uint32_t i = 0; i < 100; i++) {
            size_t first = s.writer.functions.count;
            uint32_t more = i % 3 ? 0 : i % 5;
            for (uint32_t k = 0; k <= more; k++) {
                model_sample_random_function(&s, 0x1000 + i / 2 * 8, &seed);
                struct csni_row *rows = csni_batch_reserve_rows(&s.writer, 2);
                size_t last = s.writer.functions.count - 1;
                if (!s.writer.functions.items[last].row_count && i % 2) {
                    rows[0] = rows[1] = (struct csni_row){ 0, 4, 9 };
                    csni_batch_commit_rows(&s.writer, 2, 2);
                }
                s.writer.functions.items[last].size = s.writer.functions.items[first].size;
            }
            s.writer.functions.items[first].merged_count = more;
        }
        assert_int_equal(model_sample_link(&s), CSN_OK);
        assert_int_equal(s.model.entry_count, 100);
        assert_int_equal(s.model.file_count, 6);
        assert_true(s.model.child_count > 30);
        expect_all_ways(&s);
        model_sample_deinit(&s);
    }
}

/* ---- what others write ---- */

/* The example has no base of its own choosing, strings in another order and a line table of other parameters: the meaning
 * stays, and from the first time on the bytes do. */
static void the_example(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        wire_gsym_example(&g, big, 4);
        struct csni_span file = wire_gsym_build(&g);
        struct csn_bytes once = transcode(file.ptr, file.size, CSN_FORMAT_GSYM_V1, CSN_BYTE_ORDER_INPUT);
        assert_string_equal(model_sample_events(&report), "");
        struct csn_bytes other = transcode(once.ptr, once.size, CSN_FORMAT_GSYM_V2, CSN_BYTE_ORDER_INPUT);
        struct csn_bytes back = transcode(other.ptr, other.size, CSN_FORMAT_GSYM_V1, CSN_BYTE_ORDER_INPUT);
        expect_equal(&once, &back);
        struct csn_index *a, *b;
        assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &a, NULL), CSN_OK);
        assert_int_equal(csn_index_open_memory(other.ptr, other.size, NULL, &b, NULL), CSN_OK);
        for (uint64_t addr = 0xff0; addr < 0x1240; addr++) {
            struct csn_frame x[4], y[4];
            size_t n, m;
            assert_int_equal(csn_index_lookup(a, addr, x, 4, &n, NULL), csn_index_lookup(b, addr, y, 4, &m, NULL));
            assert_int_equal(n, m);
            for (size_t k = 0; k < n; k++) {
                assert_true(csni_str_equal(x[k].name, y[k].name) && csni_str_equal(x[k].base, y[k].base) &&
                            csni_str_equal(x[k].directory, y[k].directory));
                assert_true(x[k].line == y[k].line && x[k].offset == y[k].offset && x[k].flags == y[k].flags);
            }
        }
        csn_index_close(a);
        csn_index_close(b);
        csn_bytes_free(&once);
        csn_bytes_free(&other);
        csn_bytes_free(&back);
        wire_gsym_deinit(&g);
    }
}

/* One function with a part of the given type. */
static struct csn_bytes with_part(uint32_t type, const void *bytes, size_t size) {
    struct wire_gsym g;
    wire_gsym_init(&g, false, 1, 0x1000);
    wire_gsym_file(&g, "/d", "f.c");
    struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 0x10, "f");
    wire_gsym_part(&f->parts, type, (struct csni_span){ bytes, size });
    struct csni_span file = wire_gsym_build(&g);
    struct csn_bytes out = transcode(file.ptr, file.size, CSN_FORMAT_GSYM_V2, CSN_BYTE_ORDER_INPUT);
    wire_gsym_deinit(&g);
    return out;
}

static void expect_event(uint32_t type, const char *bytes, size_t size, const char *events) {
    struct csn_bytes out = with_part(type, bytes, size);
    assert_string_equal(model_sample_events(&report), events);
    csn_bytes_free(&out);
}

/* What cannot be kept is told. */
static void damage(void **state) {
    (void)state;
    expect_event(CSNI_GSYM_PART_LINES, "", 0, "damaged-record:1");
    expect_event(CSNI_GSYM_PART_LINES, "\x00\x00\x07\x04\x02", 5, "damaged-record:1");
    expect_event(CSNI_GSYM_PART_LINES, "\x00\x00\x07\x01\x05\x04\x00", 7, "line-bad-file:1");
    expect_event(CSNI_GSYM_PART_LINES, "\x00\x00\x07\x04\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 16,
                 "line-not-ascending:1");
    expect_event(CSNI_GSYM_PART_INLINE, "\x01\x00\x10\x01\x01\x00\x00\x00\x00\x00\x01\x00\x04\x00\x01\x00\x00\x00\x09\x01\x00",
                 21, "inline-bad-file:1");
    expect_event(CSNI_GSYM_PART_INLINE, "\x01\x00\x10\x01\x01\x00\x00\x00\x00\x00\x01\x04\x00\x00\x01\x00\x00\x00\x00\x01\x00",
                 21, "inline-without-ranges:1");
    expect_event(CSNI_GSYM_PART_INLINE, "\x01\x00", 2, "damaged-record:1");
    expect_event(CSNI_GSYM_PART_CALL_SITES, "\x05\x00\x00\x00", 4, "damaged-record:1");
    expect_event(CSNI_GSYM_PART_MERGED, "\x01\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00", 12, "damaged-record:1");
    expect_event(9, "?", 1, "unknown-part:1");
}

/* Many functions that share one record cannot be made into many: work and output are bounded. */
static void shared_records(void **state) {
    (void)state;
    struct wire w;
    enum { COUNT = 5000, SITES = 2000 };
    wire_init(&w, false);
    wire_u32(&w, CSNI_GSYM_MAGIC);
    wire_u16(&w, 1);
    wire_u8(&w, 2);
    wire_u8(&w, 0);
    wire_u64(&w, 0x1000);
    wire_u32(&w, COUNT);
    size_t strings = wire_u32(&w, 0);
    wire_u32(&w, 3);
    wire_fill(&w, 0, 20);
    for (uint32_t i = 0; i < COUNT; i++) wire_u16(&w, i);
    wire_align(&w, 4);
    size_t infos = w.size;
    for (uint32_t i = 0; i < COUNT; i++) wire_u32(&w, 0);
    wire_u32(&w, 1);
    wire_u64(&w, 0);
    wire_patch(&w, strings, w.size, 4);
    wire_bytes(&w, "\0f", 3);
    wire_align(&w, 4);
    for (uint32_t i = 0; i < COUNT; i++) wire_patch(&w, infos + 4 * i, w.size, 4);
    wire_u32(&w, 1);
    wire_u32(&w, 1);
    wire_u32(&w, CSNI_GSYM_PART_CALL_SITES);
    wire_u32(&w, 4 + SITES * CSNI_GSYM_CALL_SITE_MIN);
    wire_u32(&w, SITES);
    wire_fill(&w, 0, SITES * CSNI_GSYM_CALL_SITE_MIN);
    wire_u64(&w, 0);
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_convert_memory(w.bytes, w.size, NULL, &out, &report, &err), CSN_E_LIMIT);
    assert_non_null(strstr(err.text, "functions share records"));
    wire_deinit(&w);
}

static csn_status transcode_step(void *context, const struct csn_allocator *alloc) {
    const struct csn_bytes *file = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.allocator = alloc;
    options.threads = 1;
    options.format = CSN_FORMAT_GSYM_V2;
    csn_status status = csn_convert_memory(file->ptr, file->size, &options, &out, &report, NULL);
    if (status >= 0) csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    uint64_t seed = 3;
    struct model_sample s;
    model_sample_init(&s, NULL);
    s.model.image.exact = true;
    model_sample_random_names(&s, 0);
    for (uint32_t i = 0; i < 40; i++) model_sample_random_function(&s, 0x1000 + i, &seed);
    s.writer.functions.items[3].merged_count = 2;
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes file = write_sample(&s, CSNI_GSYM_WRITE_V1, false);
    assert_true(test_allocator_sweep(transcode_step, &file, 0) > 30);
    assert_true(test_allocator_sweep(transcode_step, &file, 1) > 30);
    csn_bytes_free(&file);
    model_sample_deinit(&s);
}

/* ---- segments ---- */

static char folder[] = "/tmp/csn_segments_XXXXXX";

static void write_file(const char *path, const struct csn_bytes *bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->ptr, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
}

static void remove_folder(void) {
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
    closedir(d);
    assert_int_equal(rmdir(folder), 0);
}

/* Each allocation fails once: the call fails, or it was one that only serves to sync the folder. */
static void segments_without_memory(void **state) {
    (void)state;
    uint64_t seed = 11;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_random_names(&s, 0);
    for (uint32_t i = 0; i < 6; i++) model_sample_random_function(&s, 0x1000 + 0x400 * i, &seed);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes file = write_sample(&s, CSNI_GSYM_WRITE_V1, false);
    assert_non_null(mkdtemp(folder));
    char in[64], out[64];
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    write_file(in, &file);
    int failures = 0;
    for (uint64_t nth = 1;; nth++) {
        struct test_allocator t;
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        test_allocator_init(&t);
        test_allocator_fail(&t, nth, 0);
        options.allocator = &t.base;
        options.threads = 1;
        struct csn_gsym_options gsym = CSN_GSYM_OPTIONS_INIT;
        gsym.segment_size = file.size / 2;
        options.gsym = &gsym;
        csn_status status = csn_convert_file(in, out, &options, &report, NULL);
        test_allocator_check_empty(&t);
        assert_true(status == CSN_OK || (status == CSN_E_MEMORY && t.refused));
        failures += status != CSN_OK;
        if (!t.refused) break;
    }
    assert_true(failures > 40);
    assert_true(report.segments_written > 1);
    remove_folder();
    csn_bytes_free(&file);
    model_sample_deinit(&s);
}

/* In memory there is no place for several. */
static void segments_need_files(void **state) {
    (void)state;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_gsym_options gsym = CSN_GSYM_OPTIONS_INIT;
    gsym.segment_size = 1000;
    options.gsym = &gsym;
    assert_int_equal(csn_convert_memory("MYSG", 4, &options, &out, &report, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "segments are written to files only, the segment size is 1000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models),
        cmocka_unit_test(merged_and_equal),
        cmocka_unit_test(the_example),
        cmocka_unit_test(damage),
        cmocka_unit_test(shared_records),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(segments_without_memory),
        cmocka_unit_test(segments_need_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
