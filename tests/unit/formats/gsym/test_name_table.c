/* Functions by name: with a name table, without one, and with one that is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <callsign/inspect.h>

#include "base/sink.h"
#include "base/core/span.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_names.h"
#include "formats/gsym/write/gsym_write_names.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"

enum { FUNCTIONS = 40 };

/* "f0" to "f9" four times each, at ascending addresses. */
static csn_status write_to(enum csni_gsym_target target, bool big, bool with_table, const struct csn_allocator *alloc,
                           struct csn_bytes *out) {
    static struct model_sample s;
    model_sample_init(&s, alloc);
    s.model.image.big_endian = big;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        static char names[10][4];
        snprintf(names[i % 10], sizeof names[0], "f%u", i % 10);
        model_sample_function(&s, 0x1000 + 16 * i, 16, names[i % 10]);
    }
    *out = (struct csn_bytes){ NULL, 0, s.alloc };
    struct csni_sink sink = csni_memory_sink(out);
    csn_status status = model_sample_link(&s);
    if (status == CSN_OK)
        status = with_table ? csni_gsym_write_with_names(&s.model, target, NULL, &sink, &s.report, NULL)
                            : csni_gsym_write(&s.model, target, NULL, &sink, &s.report, NULL);
    if (status == CSN_OK) assert_int_equal(s.report.output_bytes, out->size);
    model_sample_deinit(&s);
    return status;
}

/* The functions of that name: how many there are, and their numbers. */
static void expect_found(const struct csn_index *index, const char *name, size_t expected) {
    uint32_t found[FUNCTIONS];
    size_t count = 0;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_index_find_name(index, csni_str(name), found, FUNCTIONS, &count, &err);
    assert_int_equal(status, expected ? CSN_OK : CSN_NONE);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        struct csn_function function;
        assert_int_equal(csn_index_function(index, found[i], &function, NULL), CSN_OK);
        assert_true(csni_str_is(function.name, name));
        assert_true(!i || found[i] > found[i - 1]);
    }
}

static void test_found(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct csn_bytes bytes, plain;
        struct csn_index *index;
        struct csni_gsym_names names;
        enum csni_gsym_target target = i & 1 ? CSNI_GSYM_WRITE_V1 : CSNI_GSYM_WRITE_V2;
        bool big = i & 2, with_table = i & 4;
        assert_int_equal(write_to(target, big, with_table, NULL, &bytes), CSN_OK);
        assert_int_equal(csni_gsym_find_names((struct csni_span){ bytes.ptr, bytes.size }, big, &names), with_table);
        assert_int_equal(csn_index_open_memory(bytes.ptr, bytes.size, NULL, &index, NULL), CSN_OK);
        for (unsigned k = 0; k < 10; k++) {
            char name[4];
            snprintf(name, sizeof name, "f%u", k);
            expect_found(index, name, 4);
        }
        expect_found(index, "f", 0);
        expect_found(index, "f10", 0);
        size_t count;
        uint32_t two[2];
        assert_int_equal(csn_index_find_name(index, csni_str("f3"), two, 2, &count, NULL), CSN_OK);
        assert_int_equal(count, 4);
        assert_int_equal(csn_index_find_name(index, csni_str("f3"), NULL, 0, &count, NULL), CSN_OK);
        assert_int_equal(csn_index_find_name(index, csni_str(""), two, 2, &count, NULL), CSN_E_ARGUMENT);
        struct csn_verify_counts counts;
        assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
        assert_int_equal(counts.problems, 0);
        csn_index_close(index);
        /* What stands before the table is the file without it. */
        assert_int_equal(write_to(target, big, false, NULL, &plain), CSN_OK);
        assert_true(plain.size <= bytes.size);
        assert_memory_equal(plain.ptr, bytes.ptr, plain.size);
        csn_bytes_free(&plain);
        csn_bytes_free(&bytes);
    }
}

/* A table with any byte changed may hide a function, but never gives a wrong one. If it can be used, verify tells of it. */
static void test_damaged(void **state) {
    (void)state;
    struct csn_bytes bytes, plain;
    assert_int_equal(write_to(CSNI_GSYM_WRITE_V1, false, true, NULL, &bytes), CSN_OK);
    assert_int_equal(write_to(CSNI_GSYM_WRITE_V1, false, false, NULL, &plain), CSN_OK);
    for (size_t at = plain.size; at < bytes.size; at++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            struct csn_index *index;
            bytes.ptr[at] ^= (uint8_t)(1u << bit);
            assert_int_equal(csn_index_open_memory(bytes.ptr, bytes.size, NULL, &index, NULL), CSN_OK);
            for (unsigned k = 0; k < 10; k++) {
                char name[4];
                uint32_t found[FUNCTIONS];
                size_t count = 0;
                snprintf(name, sizeof name, "f%u", k);
                csn_index_find_name(index, csni_str(name), found, FUNCTIONS, &count, NULL);
                assert_true(count <= FUNCTIONS);
                for (size_t i = 0; i < count; i++) {
                    struct csn_function function;
                    assert_int_equal(csn_index_function(index, found[i], &function, NULL), CSN_OK);
                    assert_true(csni_str_is(function.name, name));
                }
            }
            struct csni_gsym_names names;
            struct csn_verify_counts counts;
            bool is_used = csni_gsym_find_names((struct csni_span){ bytes.ptr, bytes.size }, false, &names);
            assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
            assert_int_equal(counts.problems, is_used);
            csn_index_close(index);
            bytes.ptr[at] ^= (uint8_t)(1u << bit);
        }
    }
    csn_bytes_free(&plain);
    csn_bytes_free(&bytes);
}

static bool print_problem(void *context, const struct csn_error *err) {
    (void)context;
    print_error("problem: %s\n", err->text);
    return true;
}

/* "NAME" becomes "new NAME", and what begins with 'x' becomes "same". */
static csn_status rename_some(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    (void)context;
    int len = name.ptr[0] == 'x' ? snprintf(out, cap, "same") : snprintf(out, cap, "new %.*s", (int)name.len, name.ptr);
    *out_len = (size_t)len;
    return CSN_OK;
}

/* The hashes are those of the names as they are stored. */
static void test_renamed(void **state) {
    (void)state;
    for (int merged = 0; merged < 2; merged++) {
        static struct model_sample s;
        model_sample_init(&s, NULL);
        s.model.rename = rename_some;
        s.model.merge = merged ? CSN_MERGE_ALL : CSN_MERGE_NONE;
        static const char *const names[] = { "one", "x1", "x2", "two" };
        for (uint32_t i = 0; i < 4; i++) model_sample_function(&s, i == 3 ? 0x1000 : 0x1000 + 16 * i, 16, names[i]);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csn_bytes bytes = { NULL, 0, s.alloc };
        struct csni_sink sink = csni_memory_sink(&bytes);
        assert_int_equal(csni_gsym_write_with_names(&s.model, CSNI_GSYM_WRITE_V1, NULL, &sink, &s.report, NULL), CSN_OK);
        struct csn_index *index;
        struct csn_verify_counts counts;
        assert_int_equal(csn_index_open_memory(bytes.ptr, bytes.size, NULL, &index, NULL), CSN_OK);
        assert_int_equal(csn_index_verify(index, print_problem, NULL, &counts, NULL), CSN_OK);
        assert_int_equal(counts.problems, 0);
        for (unsigned i = 0; i < 4; i++) expect_found(index, names[i], 0);
        size_t count;
        assert_int_equal(csn_index_find_name(index, csni_str("same"), NULL, 0, &count, NULL), CSN_OK);
        assert_int_equal(count, 2);
        assert_int_equal(csn_index_find_name(index, csni_str("new two"), NULL, 0, &count, NULL), CSN_OK);
        assert_int_equal(csn_index_find_name(index, csni_str("new one"), NULL, 0, &count, NULL), merged ? CSN_OK : CSN_NONE);
        csn_index_close(index);
        csn_bytes_free(&bytes);
        model_sample_deinit(&s);
    }
}

static csn_status write_step(void *context, const struct csn_allocator *alloc) {
    struct csn_bytes bytes;
    (void)context;
    csn_status status = write_to(CSNI_GSYM_WRITE_V1, false, true, alloc, &bytes);
    csn_bytes_free(&bytes);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(write_step, NULL, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_found), cmocka_unit_test(test_damaged),
                                        cmocka_unit_test(test_renamed), cmocka_unit_test(test_no_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
