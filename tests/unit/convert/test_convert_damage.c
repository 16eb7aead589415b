/* convert/ over damaged input: every truncation, every byte changed, every allocation failing once. Whatever comes in, the
 * conversion fails with a text or gives an index without a problem that answers at each function's start. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/inspect.h>

#include "support/convert_sample.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

/* ---- the invariant ---- */

static bool say_problem(void *context, const struct csn_error *err) {
    print_error("%s: problem: %s\n", (const char *)context, err->text);
    return true;
}

static void expect_answers(const struct csn_index *index, const char *what) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_record record;
        struct csn_frame frames[4];
        size_t count;
        assert_int_equal(csn_index_record(index, i, &record, NULL), CSN_OK);
        if (csn_index_lookup(index, record.start, frames, 4, &count, NULL) != CSN_OK || !count)
            fail_msg("%s: no answer at 0x%llx, the start of function %u", what, (unsigned long long)record.start, i);
    }
}

/* Converts a copy that has exactly `size` bytes, so that a sanitizer sees every read past them. */
static csn_status convert_any(const void *bytes, size_t size, const char *what) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_verify_counts counts;
    struct csn_index *index;
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size) memcpy(copy, bytes, size);
    options.threads = 1;
    options.flags = CSN_CONVERT_CALL_SITES;
    options.merged_functions = CSN_MERGE_ALL;
    options.max_decompressed_bytes = 1 << 20;
    csn_status status = csn_convert_memory(copy, size, &options, &out, NULL, &err);
    free(copy);
    if (status < 0) {
        if (out.ptr || err.code != status || !err.text[0]) fail_msg("%s: status %d, text \"%s\"", what, status, err.text);
        return status;
    }
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, say_problem, (void *)(uintptr_t)what, &counts, NULL), CSN_OK);
    if (counts.problems) fail_msg("%s: %llu problems", what, (unsigned long long)counts.problems);
    expect_answers(index, what);
    csn_index_close(index);
    csn_bytes_free(&out);
    return CSN_OK;
}

static void make(struct convert_sample *s, uint16_t version) {
    convert_sample_init(s, version, version == 4);
    convert_sample_fill(s);
}

static struct wire *section(struct convert_sample *s, size_t i) {
    struct dwarf_sample *d = &s->dwarf;
    struct wire *all[] = { &d->info, &d->abbrev, &d->line, &d->str, &d->ranges, &d->rnglists };
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

/* ---- truncation ---- */

static void the_whole_sample(void **state) {
    (void)state;
    static const char text[] =
        "total [1000,1040)\n 1000 a.c:10\n 1004 b.h:3\n 1008 a.c:11\n 1010 a.c:12\n >area [1004,1010) a.c:11\n"
        " >>scale [1008,100c) b.h:3\n call +20 ^total$\n call +28\n"
        "split [1100,1120)\n 1100 a.c:20\n 1108 a.c:21\n >area [1104,1108) [1110,1118) a.c:21\n"
        "split [1200,1210)\n 1200 b.h:30\n >area [1204,1208) a.c:21\nshape::resize [1300,1320)\n"
        "late [1500,1510)\n 1500 a.c:1\n 1504 a.c:2\ndeclared [1600,1608)\n 1600 b.h:77\nlabel [1700,2000)\n";
    for (uint16_t version = 4; version <= 5; version++) {
        struct convert_sample s;
        struct csn_bytes out;
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        options.flags = CSN_CONVERT_CALL_SITES | CSN_CONVERT_STRICT;
        make(&s, version);
        struct csni_span file = convert_sample_build(&s);
        assert_int_equal(csn_convert_memory(file.ptr, file.size, &options, &out, NULL, NULL), CSN_OK);
        assert_string_equal(index_text(out.ptr, out.size), text);
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

static void truncated_files(void **state) {
    (void)state;
    for (uint16_t version = 4; version <= 5; version++) {
        struct convert_sample s;
        char what[64];
        make(&s, version);
        struct csni_span file = convert_sample_build(&s);
        size_t refused = 0;
        for (size_t size = 0; size < file.size; size += SWEEP_STEP) {
            snprintf(what, sizeof what, "version %u, first %zu bytes", version, size);
            refused += convert_any(file.ptr, size, what) < 0;
        }
        /* The section headers come last. */
        assert_true(refused > file.size / SWEEP_STEP / 2);
        assert_int_equal(convert_any(file.ptr, file.size, "all"), CSN_OK);
        convert_sample_deinit(&s);
    }
}

static void truncated_sections(void **state) {
    (void)state;
    for (uint16_t version = 4; version <= 5; version++) {
        struct convert_sample s;
        char what[64];
        make(&s, version);
        for (size_t i = 0; section(&s, i); i++) {
            size_t whole = section(&s, i)->size;
            (void)wire_span(section(&s, i));
            for (size_t size = 0; size < whole; size += SWEEP_STEP) {
                section(&s, i)->size = size;
                struct csni_span file = convert_sample_build(&s);
                snprintf(what, sizeof what, "version %u, section %zu, first %zu bytes", version, i, size);
                /* There are symbols, so something is always found. */
                if (convert_any(file.ptr, file.size, what) != CSN_OK) fail_msg("%s: refused", what);
            }
            section(&s, i)->size = whole;
        }
        convert_sample_deinit(&s);
    }
}

/* ---- changed bytes ---- */

static void changed_sections(void **state) {
    (void)state;
    static const uint8_t masks[] = { 0xff, 0x80, 0x7f, 0x01 };
    for (uint16_t version = 4; version <= 5; version++) {
        struct convert_sample s;
        char what[80];
        make(&s, version);
        for (size_t i = 0; section(&s, i); i++)
            for (size_t at = 0; at < section(&s, i)->size; at += SWEEP_STEP)
                for (size_t m = 0; m < sizeof masks; m++) {
                    section(&s, i)->bytes[at] ^= masks[m];
                    struct csni_span file = convert_sample_build(&s);
                    snprintf(what, sizeof what, "version %u, section %zu, byte %zu changed by %02x", version, i, at,
                             masks[m]);
                    if (convert_any(file.ptr, file.size, what) != CSN_OK) fail_msg("%s: refused", what);
                    section(&s, i)->bytes[at] ^= masks[m];
                }
        convert_sample_deinit(&s);
    }
}

static void changed_files(void **state) {
    (void)state;
    struct convert_sample s;
    char what[64];
    make(&s, 5);
    struct csni_span file = convert_sample_build(&s);
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    memcpy(copy, file.ptr, file.size);
    for (size_t at = 0; at < file.size; at += SWEEP_STEP) {
        snprintf(what, sizeof what, "byte %zu changed", at);
        copy[at] ^= 0xff;
        convert_any(copy, file.size, what);
        copy[at] ^= 0xff;
    }
    free(copy);
    convert_sample_deinit(&s);
}

/* ---- memory ---- */

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *file = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.allocator = alloc;
    options.threads = 1;
    options.flags = CSN_CONVERT_CALL_SITES;
    options.merged_functions = CSN_MERGE_ALL;
    static const char lines[] = "f 4 /a/ b\nnobody 1\n";
    const struct csn_call_site_file sites = { "sites", lines, sizeof lines - 1 };
    options.call_site_files = &sites;
    options.call_site_file_count = 1;
    csn_status status = csn_convert_memory(file->ptr, file->size, &options, &out, NULL, NULL);
    if (status >= 0) csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    for (uint16_t version = 4; version <= 5; version++) {
        struct convert_sample s;
        make(&s, version);
        /* And damage, whose notes need memory too. */
        convert_sample_unit_without_lines(&s);
        die_function(&s, "outside", 0x5000, 8);
        die_end(&s);
        die_nameless(&s, 0x1400, 8);
        die_end(&s);
        wire_uleb(&s.dwarf.info, 0x55);
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        assert_true(test_allocator_sweep(convert_step, &file, 0) > 60);
        assert_true(test_allocator_sweep(convert_step, &file, 1) > 60);
        convert_sample_deinit(&s);
    }
}

static csn_status convert_in_threads(struct csni_span file, uint64_t nth, bool *refused, struct csn_bytes *out) {
    struct test_allocator t;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    test_allocator_init(&t);
    test_allocator_fail(&t, nth, 0);
    options.allocator = &t.base;
    options.threads = 3;
    struct csn_bytes made;
    csn_status status = csn_convert_memory(file.ptr, file.size, &options, &made, NULL, NULL);
    *refused = atomic_load(&t.refused) != 0;
    *out = (struct csn_bytes){ .size = 0 };
    if (status >= 0) {
        out->ptr = malloc(made.size);
        assert_non_null(out->ptr);
        memcpy(out->ptr, made.ptr, made.size);
        out->size = made.size;
        csn_bytes_free(&made);
    }
    test_allocator_check_empty(&t);
    return status;
}

/* With several workers the failure may come anywhere; memory must not leak, the status is one of the two. Strings are hashed early
 * only if there is memory for that: then the result is the same. */
static void allocation_failures_in_threads(void **state) {
    (void)state;
    struct convert_sample s;
    make(&s, 5);
    struct csni_span file = convert_sample_build(&s);
    struct csn_bytes whole, other;
    bool refused;
    assert_int_equal(convert_in_threads(file, 0, &refused, &whole), CSN_OK);
    for (uint64_t nth = 1; nth < 150; nth++) {
        csn_status status = convert_in_threads(file, nth, &refused, &other);
        if (status != CSN_OK) assert_true(refused && status == CSN_E_MEMORY);
        else assert_true(other.size == whole.size && memcmp(other.ptr, whole.ptr, whole.size) == 0);
        free(other.ptr);
    }
    free(whole.ptr);
    convert_sample_deinit(&s);
}

/* ---- files ---- */

static char folder[] = "/tmp/csn_convert_XXXXXX";
static char in_path[64], out_path[64];

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_file(const char *path, const void *bytes, size_t size) {
    static uint8_t content[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(content, 1, sizeof content, file), size);
    fclose(file);
    assert_memory_equal(content, bytes, size);
}

static void expect_refused_onto(const char *out, const struct csn_convert_options *options, struct csni_span input) {
    struct csn_error err = CSN_ERROR_INIT;
    char text[200];
    snprintf(text, sizeof text, "the output %s is a file that the conversion reads, and would replace", out);
    assert_int_equal(csn_convert_file(in_path, out, options, NULL, &err), CSN_E_ARGUMENT);
    assert_string_equal(csn_error_text(&err), text);
    expect_file(in_path, input.ptr, input.size);
}

/* A program is not replaced by its index, whatever its file is called. An index may be. */
static void expect_not_itself(struct csni_span program, const struct csn_bytes *index) {
    static const char *const links[] = { "hard", "soft" };
    char link_path[80];
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_file *opened;
    expect_refused_onto(in_path, NULL, program);
    for (int soft = 0; soft < 2; soft++) {
        snprintf(link_path, sizeof link_path, "%s/%s", folder, links[soft]);
        assert_int_equal(soft ? symlink(in_path, link_path) : link(in_path, link_path), 0);
        expect_refused_onto(link_path, NULL, program);
        unlink(link_path);
    }
    assert_int_equal(csn_file_open(in_path, &opened, NULL), CSN_OK);
    options.input = opened;
    expect_refused_onto(in_path, &options, program);
    csn_file_close(opened);

    write_file(in_path, index->ptr, index->size);
    options.input = NULL;
    options.flags = CSN_CONVERT_STRICT;
    assert_int_equal(csn_convert_file(in_path, in_path, &options, NULL, NULL), CSN_OK);
    expect_file(in_path, index->ptr, index->size);
    options.format = CSN_FORMAT_BREAKPAD;
    expect_refused_onto(in_path, &options, (struct csni_span){ index->ptr, index->size });
    write_file(in_path, program.ptr, program.size);
}

static void from_and_to_files(void **state) {
    (void)state;
    struct convert_sample s;
    struct csn_bytes out, from_file;
    struct csn_error err = CSN_ERROR_INIT;
    static struct csn_convert_report report;
    make(&s, 5);
    struct csni_span file = convert_sample_build(&s);
    write_file(in_path, file.ptr, file.size);
    assert_int_equal(csn_convert_memory(file.ptr, file.size, NULL, &out, NULL, NULL), CSN_OK);
    assert_int_equal(csn_convert_file_to_memory(in_path, NULL, &from_file, &report, &err), CSN_OK);
    assert_int_equal(report.input_bytes, file.size);
    assert_int_equal(report.output_bytes, out.size);
    assert_int_equal(from_file.size, out.size);
    assert_memory_equal(from_file.ptr, out.ptr, out.size);
    assert_int_equal(csn_convert_file(in_path, out_path, NULL, &report, &err), CSN_OK);
    expect_file(out_path, out.ptr, out.size);
    expect_not_itself(file, &out);
    /* A conversion that fails leaves the old file. */
    write_file(in_path, file.ptr, 100);
    assert_true(csn_convert_file(in_path, out_path, NULL, &report, &err) < 0);
    assert_true(csn_convert_file_to_memory(in_path, NULL, &from_file, &report, &err) < 0);
    expect_file(out_path, out.ptr, out.size);
    write_file(in_path, "", 0);
    assert_int_equal(csn_convert_file(in_path, out_path, NULL, &report, &err), CSN_E_UNSUPPORTED);
    unlink(in_path);
    assert_int_equal(csn_convert_file(in_path, out_path, NULL, &report, &err), CSN_E_IO);
    assert_int_equal(csn_convert_file_to_memory(folder, NULL, &from_file, NULL, &err), CSN_E_UNSUPPORTED);
    expect_file(out_path, out.ptr, out.size);
    unlink(out_path);
    csn_bytes_free(&out);
    csn_bytes_free(&from_file);
    convert_sample_deinit(&s);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(in_path, sizeof in_path, "%s/in", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(in_path);
    unlink(out_path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_sample),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(truncated_sections),
        cmocka_unit_test(changed_sections),
        cmocka_unit_test(changed_files),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(allocation_failures_in_threads),
        cmocka_unit_test(from_and_to_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
