/* formats/gsym/read/gsym_line.c and its scans, through callsign/line_table.h: worked examples, damage, and random
 * tables in which the found row must be what reading row after row gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include <callsign/line_table.h>

#include "wire/wire.h"

enum { START = 0x4000 };

static void expect_row(struct csn_row row, uint64_t addr, uint32_t file, uint32_t line) {
    assert_int_equal(row.addr, addr);
    assert_int_equal(row.file, file);
    assert_int_equal(row.line, line);
}

static void worked_example(void **state) {
    (void)state;
    static const uint8_t bytes[] = { 0x7c, 3, 6, 0x08, 0x57, 0x3a, 1, 2, 0x05, 0x09, 0 };
    struct csn_row rows[8];
    size_t count;
    assert_int_equal(csn_line_table_decode(0x11e0, bytes, sizeof bytes, rows, 8, &count, NULL), CSN_OK);
    assert_int_equal(count, 5);
    expect_row(rows[0], 0x11e0, 1, 6);
    expect_row(rows[1], 0x11ea, 1, 5);
    expect_row(rows[2], 0x11f0, 1, 7);
    expect_row(rows[3], 0x11f0, 2, 4);
    expect_row(rows[4], 0x11f0, 2, 5);
    assert_int_equal(csn_line_table_decode(0x11e0, bytes, sizeof bytes, rows, 2, &count, NULL), CSN_OK);
    assert_int_equal(count, 5);

    struct csn_row row;
    assert_int_equal(csn_line_table_lookup(0x11e0, bytes, sizeof bytes, 0x11e9, &row, NULL), CSN_OK);
    expect_row(row, 0x11e0, 1, 6);
    /* The last of equal addresses. */
    assert_int_equal(csn_line_table_lookup(0x11e0, bytes, sizeof bytes, 0x11f0, &row, NULL), CSN_OK);
    expect_row(row, 0x11f0, 2, 5);
    assert_int_equal(csn_line_table_lookup(0x11e0, bytes, sizeof bytes, UINT64_MAX, &row, NULL), CSN_OK);
    expect_row(row, 0x11f0, 2, 5);
    assert_int_equal(csn_line_table_lookup(0x11e0, bytes, sizeof bytes, 0x11df, &row, NULL), CSN_NONE);
}

static void no_rows(void **state) {
    (void)state;
    static const uint8_t empty[] = { 0, 0, 1, 0 }, late[] = { 0, 1, 1, 2, 5, 0 };
    struct csn_row row;
    size_t count = 9;
    assert_int_equal(csn_line_table_decode(START, empty, sizeof empty, NULL, 0, &count, NULL), CSN_OK);
    assert_int_equal(count, 0);
    assert_int_equal(csn_line_table_lookup(START, empty, sizeof empty, START, &row, NULL), CSN_NONE);
    assert_int_equal(csn_line_table_lookup(START, late, sizeof late, START + 4, &row, NULL), CSN_NONE);
    assert_int_equal(csn_line_table_lookup(START, late, sizeof late, START + 5, &row, NULL), CSN_OK);
}

static void expect_damage(const uint8_t *bytes, size_t size, csn_status status, const char *text) {
    struct csn_row row;
    size_t count;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_line_table_lookup(START, bytes, size, START + 100, &row, &err), status);
    assert_string_equal(err.text, text);
    assert_int_equal(csn_line_table_decode(START, bytes, size, NULL, 0, &count, NULL), status);
}

static void damage(void **state) {
    (void)state;
    static const uint8_t no_range[] = { 1, 0, 1, 0 }, negative[] = { 5, 0, 1, 0 };
    expect_damage(no_range, sizeof no_range, CSN_E_FORMAT,
                  "line table+0x0: line deltas from 1 to 0, need at least one and fewer than 2^64");
    expect_damage(negative, sizeof negative, CSN_E_FORMAT,
                  "line table+0x0: line deltas from 5 to 0, need at least one and fewer than 2^64");
    static const uint8_t whole[] = { 0x7c, 3, 6, 0x08, 1, 0x82, 1, 3, 0x84, 1, 2, 0x83, 0, 0x09 };
    for (size_t size = 0; size <= sizeof whole; size++) {
        struct csn_row row;
        uint8_t *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, whole, size);
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csn_line_table_lookup(START, copy, size, START + 100, &row, &err), CSN_E_TRUNCATED);
        assert_int_not_equal(err.text[0], 0);
        free(copy);
    }
    expect_damage(whole, 14, CSN_E_TRUNCATED, "line table+0x0: line table of 14 bytes has no end mark");
}

/* ---- random tables ---- */

static uint64_t seed;

static uint32_t pick(uint32_t count) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % count);
}

/* Numbers of all lengths, small ones (that look like opcodes) more often. */
static uint64_t pick_number(void) {
    switch (pick(8)) {
    case 0: return pick(1u << 14);
    case 1: return pick(1u << 22);
    case 2: return pick(16) == 0 ? (uint64_t)pick(UINT32_MAX) << pick(12) : pick(300);
    case 3: return pick(256);
    default: return pick(5);
    }
}

static void add_opcode(struct wire *w, uint32_t special_percent) {
    if (pick(100) < special_percent) {
        wire_u8(w, 4 + pick(252));
        return;
    }
    uint32_t op = 1 + pick(3);
    wire_u8(w, op);
    uint64_t number = op == 2 && pick(8) ? pick(128) : pick_number();
    if (op == 3) wire_sleb(w, pick(2) ? (int64_t)number : -(int64_t)number);
    else if (pick(64) == 0) wire_uleb_padded(w, number & 0xfff, 2 + pick(6));
    else wire_uleb(w, number);
}

static void random_table(struct wire *w, uint32_t count) {
    static const int64_t ranges[] = { 1, 2, 3, 7, 14, 15, 15, 15, 100, 251, 252, 256, 65535, 65536, 70000 };
    int64_t min = (int64_t)pick(40) - 20, range = ranges[pick(sizeof ranges / sizeof *ranges)];
    wire_sleb(w, min);
    wire_sleb(w, min + range - 1);
    wire_uleb(w, pick(5000));
    uint32_t special_percent = pick(101);
    for (uint32_t k = 0; k < count; k++) add_opcode(w, special_percent);
    wire_u8(w, 0);
    /* What follows a table in a file must not matter. */
    for (uint32_t k = pick(80); k > 0; k--) wire_u8(w, pick(256));
}

/* The row by reading all rows. */
static csn_status expected_row(const struct csn_row *rows, size_t count, uint64_t addr, struct csn_row *out) {
    csn_status status = CSN_NONE;
    for (size_t k = 0; k < count && rows[k].addr <= addr; k++) {
        *out = rows[k];
        status = CSN_OK;
    }
    return status;
}

static void random_tables(void **state) {
    (void)state;
    enum { TABLES = 3000, OPS = 400 };
    static struct csn_row rows[OPS];
    seed = 88172645463325252u;
    size_t found = 0;
    for (uint32_t t = 0; t < TABLES; t++) {
        struct wire w;
        wire_init(&w, false);
        random_table(&w, pick(t % 2 ? 12 : OPS));
        struct csni_span bytes = wire_span(&w);
        uint8_t *exact = malloc(bytes.size); /* a block of its own: reads past it are seen */
        assert_non_null(exact);
        memcpy(exact, bytes.ptr, bytes.size);
        size_t count;
        assert_int_equal(csn_line_table_decode(START, exact, bytes.size, rows, OPS, &count, NULL), CSN_OK);
        for (uint32_t k = 0; k < 40; k++) {
            uint64_t addr = START + pick(300);
            if (count) addr = rows[pick((uint32_t)count)].addr + pick(3) - 1;
            if (k == 0) addr = UINT64_MAX;
            struct csn_row row = { 0, 0, 0 }, want = { 0, 0, 0 };
            csn_status status = expected_row(rows, count, addr, &want);
            assert_int_equal(csn_line_table_lookup(START, exact, bytes.size, addr, &row, NULL), status);
            expect_row(row, want.addr, want.file, want.line);
            found += status == CSN_OK;
        }
        free(exact);
        wire_deinit(&w);
    }
    assert_true(found > TABLES * 20);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(worked_example), cmocka_unit_test(no_rows),
                                        cmocka_unit_test(damage), cmocka_unit_test(random_tables) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
