/* formats/gsym/read/gsym_read.c through csn_index_open_memory(): headers, tables, truncation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/gsym/gsym_layout.h"
#include "wire/wire_gsym.h"

static void expect(const struct wire *w, size_t size, csn_status status, const char *text) {
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_index_open_memory(w->bytes, size, NULL, &index, &err), status);
    assert_null(index);
    assert_string_equal(csn_error_text(&err), text);
    assert_int_equal(err.code, status);
}

/* The example with `size` bytes at `off` changed to `value`. */
static void expect_patched(size_t off, uint64_t value, unsigned size, csn_status status, const char *text) {
    struct wire_gsym g;
    wire_gsym_example(&g, false, 2);
    wire_gsym_build(&g);
    wire_patch(&g.out, off, value, size);
    expect(&g.out, g.out.size, status, text);
    wire_gsym_deinit(&g);
}

static void headers(void **state) {
    (void)state;
    expect_patched(0, 0x7f, 1, CSN_E_FORMAT, "not a GSYM file: magic 7f 59 53 47, need 4d 59 53 47 or 47 53 59 4d");
    expect_patched(CSNI_GSYM_H_VERSION, 3, 2, CSN_E_UNSUPPORTED,
                   "header+0x4: GSYM version 3 is not supported by this build; know 1 and 2");
    expect_patched(CSNI_GSYM_H_ADDR_OFF_SIZE, 3, 1, CSN_E_FORMAT,
                   "header+0x6: address offset size 3, need 1, 2, 4 or 8");
    expect_patched(CSNI_GSYM_H_UUID_SIZE, 21, 1, CSN_E_FORMAT, "header+0x7: UUID of 21 bytes, need <= 20");
}

static void tables(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 2);
    struct csni_span file = wire_gsym_build(&g);
    assert_int_equal(file.size, 0x128);
    /* 3 addresses of 2 bytes, 3 info offsets, a count and 3 files */
    assert_int_equal(g.info_table, 0x38);
    assert_int_equal(g.file_table, 0x44);
    assert_int_equal(g.string_table, 0x60);
    expect(&g.out, 0, CSN_E_TRUNCATED, "not a GSYM file: 0 bytes, need >= 48");
    expect(&g.out, 3, CSN_E_TRUNCATED, "not a GSYM file: 3 bytes, need >= 48");
    expect(&g.out, 47, CSN_E_TRUNCATED, "header+0x2f: file of 47 bytes, need >= 48");
    expect(&g.out, 0x35, CSN_E_TRUNCATED, "address table+0x30: table ends at 0x36, file has 0x35 bytes");
    expect(&g.out, 0x43, CSN_E_TRUNCATED, "info offset table+0x38: table ends at 0x44, file has 0x43 bytes");
    expect(&g.out, 0x47, CSN_E_TRUNCATED, "file table+0x44: table ends at 0x48, file has 0x47 bytes");
    expect(&g.out, 0x5f, CSN_E_TRUNCATED, "file table+0x48: table ends at 0x60, file has 0x5f bytes");
    expect(&g.out, 0x61, CSN_E_TRUNCATED, "string table+0x60: table ends at 0x91, file has 0x61 bytes");
    wire_gsym_deinit(&g);
    expect_patched(CSNI_GSYM_H_NUM_ADDRESSES, UINT32_MAX, 4, CSN_E_TRUNCATED,
                   "address table+0x30: table ends at 0x20000002e, file has 0x128 bytes");
    expect_patched(0x44, UINT32_MAX, 4, CSN_E_TRUNCATED,
                   "file table+0x48: table ends at 0x800000040, file has 0x128 bytes");
}

/* Accepted, though no known writer makes them. */
static void empty_tables(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0);
    g.string_size = 0;
    struct csni_span file = wire_gsym_build(&g);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    struct csn_lookup out;
    assert_int_equal(csn_index_lookup_refs(index, 0, CSN_LOOKUP_DEFAULT, NULL, 0, &out, NULL), CSN_NONE);
    assert_int_equal(out.reason, CSN_REASON_BEFORE_FIRST);
    assert_int_equal(csn_index_string(index, 0).len, 0);
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void facts(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++)
        for (unsigned width = 2; width <= 8; width *= 2) {
            struct wire_gsym g;
            wire_gsym_example(&g, big, width);
            struct csni_span file = wire_gsym_build(&g);
            struct csn_index *index;
            assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
            struct csn_index_info info;
            csn_index_get_info(index, &info, sizeof(info));
            assert_int_equal(info.format, CSN_FORMAT_GSYM_V1);
            assert_int_equal(info.big_endian, big);
            assert_int_equal(info.address_size, width);
            assert_int_equal(info.base_address, 0x1000);
            assert_int_equal(info.file_size, file.size);
            assert_int_equal(info.function_count, 3);
            assert_int_equal(info.file_count, 3);
            assert_int_equal(info.string_bytes, g.string_size);
            assert_int_equal(info.uuid_size, 20);
            assert_int_equal(info.uuid[19], 0xab);
            assert_int_equal(info.uuid[20], 0);
            csn_index_close(index);
            wire_gsym_deinit(&g);
        }
}

/* Everything that reads, whatever it answers. */
static void use(const struct csn_index *index) {
    struct csn_frame frames[4];
    struct csn_frame_ref refs[4];
    struct csn_verify_counts counts;
    size_t count;
    for (uint64_t addr = 0xff0; addr < 0x1240; addr += 3) {
        (void)csn_index_lookup(index, addr, frames, 4, &count, NULL);
        (void)csn_index_lookup_refs(index, addr, CSN_LOOKUP_LLVM, refs, 4, NULL, NULL);
    }
    assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
}

/* Each length in a block of exactly that length, so that a sanitizer sees any read past it. */
static void every_truncation(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        wire_gsym_example(&g, big, 4);
        struct csni_span file = wire_gsym_build(&g);
        size_t opened = 0;
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, file.ptr, size);
            struct csn_index *index;
            struct csn_error err = CSN_ERROR_INIT;
            csn_status status = csn_index_open_memory(copy, size, NULL, &index, &err);
            if (status == CSN_OK) {
                opened++;
                use(index);
                struct csn_verify_counts counts;
                assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
                assert_true(counts.problems > 0);
                csn_index_close(index);
            } else {
                assert_int_equal(status, CSN_E_TRUNCATED);
                assert_int_not_equal(err.text[0], 0);
            }
            free(copy);
        }
        /* The tables are whole, so all from the end of the string table on. */
        assert_int_equal(opened, file.size - (g.string_table + g.string_size));
        wire_gsym_deinit(&g);
    }
}

/* Every byte changed, one at a time: whatever comes, nothing is read outside the file. */
static void every_byte_damaged(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 2);
    struct csni_span file = wire_gsym_build(&g);
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    for (size_t off = 0; off < file.size; off++)
        for (size_t k = 0; k < sizeof values; k++) {
            memcpy(copy, file.ptr, file.size);
            copy[off] = values[k];
            struct csn_index *index;
            if (csn_index_open_memory(copy, file.size, NULL, &index, NULL) != CSN_OK) continue;
            use(index);
            csn_index_close(index);
        }
    free(copy);
    wire_gsym_deinit(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers), cmocka_unit_test(tables), cmocka_unit_test(empty_tables), cmocka_unit_test(facts),
        cmocka_unit_test(every_truncation), cmocka_unit_test(every_byte_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
