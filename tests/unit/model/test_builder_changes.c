/* A builder whose functions come and go, against a plain model of them: random changes, and snapshots whose every answer and
 * byte must be those of a builder that never had anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/builder.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "support/test_alloc.h"

enum { PLACES = 700, START = 0x10000, STEP = 0x100, SIZE = 0x80, FILES = 5 };

/* What stands at each place: 0 nothing, otherwise the version of its function. */
static uint32_t versions[PLACES];
static uint32_t seed = 7;

static uint32_t pick(uint32_t below) {
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * below >> 28);
}

static uint64_t start_of(uint32_t place) { return START + (uint64_t)place * STEP; }

static struct csn_str name_of(char *text, size_t size, uint32_t place, uint32_t version) {
    int len = snprintf(text, size, "function_%u_version_%u", place, version);
    return (struct csn_str){ text, (size_t)len };
}

static void add_files(struct csn_builder *b) {
    for (uint32_t k = 0; k < FILES; k++) {
        char base[16];
        uint32_t file;
        int len = snprintf(base, sizeof base, "file%u.js", k);
        assert_int_equal(csn_builder_add_file(b, CSN_STR("/app"), (struct csn_str){ base, (size_t)len }, &file, NULL), CSN_OK);
        assert_int_equal(file, k + 1);
    }
}

static uint32_t file_of(uint32_t version) { return 1 + version % FILES; }

static csn_status add(struct csn_builder *b, uint32_t place, uint32_t version, struct csn_error *err) {
    char text[64];
    uint64_t start = start_of(place);
    const struct csn_range range = { start + 16, start + 32 };
    const struct csn_str pattern = CSN_STR("^callee$");
    csn_status status = csn_builder_begin_function(b, start, SIZE, name_of(text, sizeof text, place, version), err);
    if (status >= 0) status = csn_builder_add_row(b, start, file_of(version), version, err);
    if (status >= 0) status = csn_builder_add_row(b, start + 64, file_of(version), version + 1, err);
    if (status >= 0 && version % 2) status = csn_builder_begin_inline(b, &range, 1, CSN_STR("inlined"), 1, place, err);
    if (status >= 0 && version % 2) status = csn_builder_end_inline(b, err);
    if (status >= 0 && version % 3 == 0) status = csn_builder_add_call_site(b, 8, CSN_CALL_SITE_INTERNAL, &pattern, 1, err);
    return status;
}

static void check_place(const struct csn_index *index, uint32_t place) {
    struct csn_frame frames[4];
    size_t count;
    char text[64];
    csn_status status = csn_index_lookup(index, start_of(place) + 20, frames, 4, &count, NULL);
    uint32_t version = versions[place];
    if (!version) {
        assert_int_equal(status, CSN_NONE);
        return;
    }
    assert_int_equal(status, CSN_OK);
    assert_int_equal(count, 1 + version % 2);
    struct csn_str name = name_of(text, sizeof text, place, version);
    const struct csn_frame *outer = &frames[count - 1];
    assert_int_equal(outer->name.len, name.len);
    assert_memory_equal(outer->name.ptr, name.ptr, name.len);
    assert_int_equal(frames[0].line, version);
    assert_int_equal(frames[0].base.ptr[4], '0' + file_of(version) - 1);
    if (count == 2) assert_int_equal(outer->line, place);
}

/* The same functions in a builder of their own, in the order of their places. */
static struct csn_bytes build_afresh(const struct csn_builder_options *options) {
    struct csn_builder *b;
    struct csn_bytes out = { NULL, 0, NULL };
    assert_int_equal(csn_builder_create(options, &b, NULL), CSN_OK);
    add_files(b);
    for (uint32_t place = 0; place < PLACES; place++)
        if (versions[place]) assert_int_equal(add(b, place, versions[place], NULL), CSN_OK);
    assert_int_equal(csn_builder_save_memory(b, &out, NULL), CSN_OK);
    csn_builder_destroy(b);
    return out;
}

static void check_bytes(const struct csn_bytes *snapshot, const struct csn_builder_options *options) {
    struct csn_index *index;
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_open_memory(snapshot->ptr, snapshot->size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
    for (uint32_t place = 0; place < PLACES; place++) check_place(index, place);
    csn_index_close(index);
    struct csn_bytes fresh = build_afresh(options);
    assert_int_equal(snapshot->size, fresh.size);
    assert_memory_equal(snapshot->ptr, fresh.ptr, fresh.size);
    csn_bytes_free(&fresh);
}

static void check_snapshot(struct csn_builder *b, const struct csn_builder_options *options) {
    struct csn_bytes snapshot;
    assert_int_equal(csn_builder_snapshot(b, &snapshot, NULL), CSN_OK);
    check_bytes(&snapshot, options);
    csn_bytes_free(&snapshot);
}

static void change(struct csn_builder *b, uint32_t place, uint32_t version) {
    csn_status status = csn_builder_remove_function(b, start_of(place), NULL);
    assert_int_equal(status, versions[place] ? CSN_OK : CSN_NONE);
    versions[place] = 0;
    if (pick(3) == 0) return;
    assert_int_equal(add(b, place, version, NULL), CSN_OK);
    versions[place] = version;
}

static void random_changes(void **state) {
    (void)state;
    static const uint32_t formats[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2 };
    for (size_t k = 0; k < 2; k++) {
        struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
        struct csn_builder *b;
        options.format = formats[k];
        options.uuid = (const uint8_t *)"0123456789abcdef";
        options.uuid_size = 16;
        memset(versions, 0, sizeof versions);
        assert_int_equal(csn_builder_create(&options, &b, NULL), CSN_OK);
        add_files(b);
        for (uint32_t step = 1; step <= 12000; step++) {
            /* At times most places change, at times few. */
            change(b, pick(step / 1000 % 2 ? PLACES : PLACES / 20), step);
            if (step % 400 == 0) check_snapshot(b, &options);
        }
        struct csn_bytes last;
        assert_int_equal(csn_builder_save_memory(b, &last, NULL), CSN_OK);
        check_bytes(&last, &options);
        csn_bytes_free(&last);
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csn_builder_remove_function(b, START, &err), CSN_E_ARGUMENT);
        assert_string_equal(err.text, "the index is saved, nothing can be removed");
        csn_builder_destroy(b);
    }
}

/* A snapshot between two rows of a function, and with an inlined call open. */
static void within_a_function(void **state) {
    (void)state;
    struct csn_builder *b;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    uint32_t file;
    const struct csn_range range = { START, START + 8 };
    assert_int_equal(csn_builder_create(NULL, &b, NULL), CSN_OK);
    assert_int_equal(csn_builder_add_file(b, CSN_STR("/"), CSN_STR("f"), &file, NULL), CSN_OK);
    assert_int_equal(csn_builder_begin_function(b, START, SIZE, CSN_STR("main"), NULL), CSN_OK);
    assert_int_equal(csn_builder_add_row(b, START, file, 1, NULL), CSN_OK);
    assert_int_equal(csn_builder_snapshot(b, &out, NULL), CSN_OK);
    csn_bytes_free(&out);
    assert_int_equal(csn_builder_add_row(b, START + 8, file, 2, NULL), CSN_OK);
    assert_int_equal(csn_builder_begin_inline(b, &range, 1, CSN_STR("in"), file, 3, NULL), CSN_OK);
    assert_int_equal(csn_builder_snapshot(b, &out, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "1 inlined calls are still open");
    assert_int_equal(csn_builder_remove_function(b, START, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_builder_end_inline(b, NULL), CSN_OK);
    assert_int_equal(csn_builder_snapshot(b, &out, NULL), CSN_OK);
    csn_bytes_free(&out);
    assert_int_equal(csn_builder_remove_function(b, START, NULL), CSN_OK);
    assert_int_equal(csn_builder_add_row(b, START + 9, file, 4, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "begin a function first");
    csn_builder_destroy(b);
}

/* Memory runs out at each allocation in turn: nothing leaks, and a failed snapshot leaves the builder usable. */
static void allocation_failures(void **state) {
    (void)state;
    uint32_t failures = 0;
    for (uint64_t nth = 1;; nth++) {
        struct test_allocator t;
        struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
        struct csn_builder *b = NULL;
        struct csn_bytes out = { NULL, 0, NULL };
        test_allocator_init(&t);
        test_allocator_fail(&t, nth, 0);
        options.allocator = &t.base;
        csn_status status = csn_builder_create(&options, &b, NULL);
        uint32_t file;
        for (uint32_t k = 0; status >= 0 && k < FILES; k++)
            status = csn_builder_add_file(b, CSN_STR("/"), CSN_STR("f"), &file, NULL);
        for (uint32_t round = 1; status >= 0 && round <= 3; round++)
            for (uint32_t place = 0; status >= 0 && place < 260; place++) {
                if (round > 1) status = csn_builder_remove_function(b, start_of(place), NULL);
                if (status >= 0) status = add(b, place, round, NULL);
            }
        if (status >= 0 && csn_builder_snapshot(b, &out, NULL) < 0) status = csn_builder_snapshot(b, &out, NULL);
        csn_bytes_free(&out);
        csn_builder_destroy(b);
        test_allocator_check_empty(&t);
        assert_true(status == CSN_OK || (status == CSN_E_MEMORY && t.refused));
        failures += status != CSN_OK;
        if (!t.refused) break;
    }
    assert_true(failures > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes),
        cmocka_unit_test(within_a_function),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
