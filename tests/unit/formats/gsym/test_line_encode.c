/* formats/gsym/write/gsym_line_encode.c: what is encoded decodes to the same rows, whatever they are; both entry
 * points agree; sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <callsign/line_table.h>

#include "base/core/cursor.h"
#include "base/leb128.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_line_encode.h"

enum { START = 0x11e0, MAX_ROWS = 3000 };

static uint64_t seed;
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed >> 12;
}
static uint32_t pick(uint32_t count) { return (uint32_t)(next_random() % count); }

/* ---- examples ---- */

static void expect_bytes(const struct csn_row *rows, size_t count, const uint8_t *want, size_t want_size) {
    uint8_t out[64];
    size_t size;
    assert_int_equal(csn_line_table_encode(START, rows, count, out, sizeof out, &size, NULL), CSN_OK);
    assert_int_equal(size, want_size);
    assert_memory_equal(out, want, want_size);
}

static void examples(void **state) {
    (void)state;
    /* One row: window [0, 0]. */
    static const struct csn_row one[] = { { START, 1, 300 } };
    static const uint8_t one_bytes[] = { 0, 0, 0xac, 2, 4, 0 };
    expect_bytes(one, 1, one_bytes, sizeof one_bytes);
    /* Not at the start, of another file. */
    static const struct csn_row late[] = { { START + 0x200, 2, 7 } };
    static const uint8_t late_bytes[] = { 0, 0, 7, 1, 2, 2, 0x80, 4, 0 };
    expect_bytes(late, 1, late_bytes, sizeof late_bytes);
    /* The function "die" of the format's worked example. */
    static const struct csn_row die[] = { { START, 1, 10 }, { START + 4, 1, 11 }, { START + 0x19, 1, 12 } };
    static const uint8_t die_bytes[] = { 0, 1, 10, 0x04, 0x0d, 0x2f, 0 };
    expect_bytes(die, 3, die_bytes, sizeof die_bytes);
    /* A line delta outside the window, then a special opcode for the address. */
    static const struct csn_row far[] = { { START, 1, 1 }, { START + 1, 1, 1001 } };
    static const uint8_t far_bytes[] = { 0, 0, 1, 4, 3, 0xe8, 7, 5, 0 };
    expect_bytes(far, 2, far_bytes, sizeof far_bytes);
}

static void what_is_refused(void **state) {
    (void)state;
    static const struct csn_row rows[] = { { START, 1, 1 }, { START + 4, 1, 2 }, { START + 3, 1, 3 } };
    uint8_t out[64];
    size_t size = 77;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_line_table_encode(START, rows, 0, out, sizeof out, &size, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "a line table needs at least one row, 0 given");
    assert_int_equal(csn_line_table_encode(START, rows, 3, out, sizeof out, &size, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "row 2 has address 0x11e3, need >= 0x11e4");
    assert_int_equal(csn_line_table_encode(START + 1, rows, 2, out, sizeof out, &size, &err), CSN_E_ARGUMENT);
    assert_string_equal(err.text, "row 0 has address 0x11e0, need >= 0x11e1");
    assert_int_equal(size, 77);
    assert_int_equal(csn_line_table_encode(START, rows, 2, out, 5, &size, &err), CSN_E_LIMIT);
    assert_string_equal(err.text, "6 bytes needed, 5 given");
    assert_int_equal(size, 6);
}

/* ---- any rows ---- */

/* How a random table looks. */
struct shape {
    uint32_t max_count, max_pc;
    uint32_t line_reach;   /* of line deltas; 0: any line */
    uint32_t files;
    bool wild;             /* 64-bit addresses */
};

static const struct shape shapes[] = {
    { 2, 4, 4, 1, false },      { 40, 20, 3, 1, false },     { 40, 20, 30, 2, false },  { 300, 300, 100, 5, false },
    { 100, 1, 1, 1, false },    { 200, 60, 0, 3, false },    { 30, 0, 0, 300, true },   { MAX_ROWS, 16, 12, 4, false },
    { 60, 70000, 600, 2, false }, { 50, 3, 40000, 1, false },
};

static size_t make_rows(const struct shape *shape, struct csn_row *rows) {
    size_t count = 1 + pick(shape->max_count);
    uint64_t addr = START + (pick(3) ? 0 : pick(50));
    uint32_t line = shape->line_reach ? 1000 + pick(100000) : pick(UINT32_MAX);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct csn_row){ addr, pick(3) ? 1 : pick(shape->files + 1), line };
        if (shape->wild) addr += (UINT64_MAX - addr) / (2 + pick(50));
        else addr += pick(4) ? pick(shape->max_pc + 1) : 0;
        if (shape->line_reach) line += pick(2 * shape->line_reach + 1) - shape->line_reach;
        else line = pick(4) ? pick(UINT32_MAX) : pick(2) ? UINT32_MAX : 0;
    }
    return count;
}

/* Decodes and compares; `bytes` has exactly `size` bytes, so that a sanitizer sees reads past them. */
static void expect_rows(const struct csn_row *rows, size_t count, const uint8_t *bytes, size_t size) {
    static struct csn_row decoded[MAX_ROWS];
    size_t got;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_line_table_decode(START, bytes, size, decoded, MAX_ROWS, &got, &err) != CSN_OK) fail_msg("%s", err.text);
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++)
        if (decoded[i].addr != rows[i].addr || decoded[i].file != rows[i].file || decoded[i].line != rows[i].line)
            fail_msg("row %zu of %zu: {0x%llx, %u, %u}, need {0x%llx, %u, %u}", i, count,
                     (unsigned long long)decoded[i].addr, decoded[i].file, decoded[i].line,
                     (unsigned long long)rows[i].addr, rows[i].file, rows[i].line);
}

static void expect_lookups(const struct csn_row *rows, size_t count, const uint8_t *bytes, size_t size) {
    for (int k = 0; k < 4; k++) {
        size_t i = pick((uint32_t)count);
        while (i + 1 < count && rows[i + 1].addr == rows[i].addr) i++;
        struct csn_row row;
        uint64_t last = i + 1 < count ? rows[i + 1].addr - 1 : UINT64_MAX;
        assert_int_equal(csn_line_table_lookup(START, bytes, size, k & 1 ? last : rows[i].addr, &row, NULL), CSN_OK);
        assert_int_equal(row.addr, rows[i].addr);
        assert_int_equal(row.file, rows[i].file);
        assert_int_equal(row.line, rows[i].line);
    }
}

/* The same rows as the writer of a whole index has them; file 0 must stay file 0 there. */
static void expect_same_as_narrow(const struct csn_row *rows, size_t count, const uint8_t *bytes, size_t size) {
    static struct csni_row narrow[MAX_ROWS];
    static uint32_t numbers[1000];
    for (uint32_t i = 0; i < 1000; i++) numbers[i] = i + 7 < 1000 ? i + 7 : i + 7 - 1000;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].addr - START > UINT32_MAX) return;
        narrow[i] = (struct csni_row){ (uint32_t)(rows[i].addr - START), rows[i].file, rows[i].line };
    }
    size_t bound = csni_gsym_line_bound(count);
    uint8_t *out = malloc(bound);
    assert_non_null(out);
    assert_int_equal(csni_gsym_encode_lines(narrow, count, NULL, out), size);
    assert_memory_equal(out, bytes, size);
    assert_true(size <= bound);
    for (size_t i = 0; i < count; i++) narrow[i].file = (narrow[i].file + 1000 - 7) % 1000;
    assert_int_equal(csni_gsym_encode_lines(narrow, count, numbers, out), size);
    assert_memory_equal(out, bytes, size);
    free(out);
}

/* The line is a 32-bit number after every opcode, not only at the rows: gsym-rs refuses other tables. */
static void expect_lines_in_range(const uint8_t *bytes, size_t size) {
    struct csni_cursor c = csni_cursor_at((struct csni_span){ bytes, size }, false);
    int64_t min = csni_cursor_sleb(&c), max = csni_cursor_sleb(&c), line = (int64_t)csni_cursor_uleb(&c);
    for (uint8_t op; (op = csni_cursor_u8(&c)) != CSNI_GSYM_LINE_END;) {
        if (op == CSNI_GSYM_LINE_ADVANCE_LINE) line += csni_cursor_sleb(&c);
        else if (op >= CSNI_GSYM_LINE_FIRST_SPECIAL) line += min + (op - CSNI_GSYM_LINE_FIRST_SPECIAL) % (max - min + 1);
        else csni_cursor_uleb(&c);
        if (line < 0 || line > UINT32_MAX) fail_msg("line %lld at byte %zu", (long long)line, (size_t)csni_cursor_off(&c));
    }
    assert_false(c.failed);
}

/* Steps of 2, then a jump to the first or the last line there is: the special opcode's part of it would lead beyond. */
static void lines_stay_in_range(void **state) {
    (void)state;
    struct csn_row rows[40];
    for (int down = 0; down < 2; down++) {
        uint32_t line = 1000;
        for (uint32_t i = 0; i < 40; i++, line = down ? line + 2 : line - 2) rows[i] = (struct csn_row){ START + i, 1, line };
        rows[39].line = down ? 1 : UINT32_MAX - 1;
        uint8_t out[256];
        size_t size;
        assert_int_equal(csn_line_table_encode(START, rows, 40, out, sizeof out, &size, NULL), CSN_OK);
        expect_lines_in_range(out, size);
        expect_rows(rows, 40, out, size);
    }
}

static void random_rows(void **state) {
    (void)state;
    static struct csn_row rows[MAX_ROWS];
    seed = 0xdeadbeefcafe;
    for (int round = 0; round < 400; round++) {
        size_t count = make_rows(&shapes[round % (int)(sizeof shapes / sizeof *shapes)], rows), size, again;
        assert_int_equal(csn_line_table_encode(START, rows, count, NULL, 0, &size, NULL), CSN_E_LIMIT);
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        assert_int_equal(csn_line_table_encode(START, rows, count, bytes, size - 1, &again, NULL), CSN_E_LIMIT);
        assert_int_equal(again, size);
        assert_int_equal(csn_line_table_encode(START, rows, count, bytes, size, &again, NULL), CSN_OK);
        assert_int_equal(again, size);
        expect_rows(rows, count, bytes, size);
        expect_lines_in_range(bytes, size);
        expect_lookups(rows, count, bytes, size);
        expect_same_as_narrow(rows, count, bytes, size);
        free(bytes);
    }
}

/* Every room that is too small: nothing is written after it. */
static void every_small_capacity(void **state) {
    (void)state;
    static const struct csn_row rows[] = { { START, 2, 500 }, { START + 5000, 300, 7 }, { START + 5001, 1, 100000 },
                                           { START + 5010, 1, 100001 } };
    uint8_t whole[64];
    size_t size, needed;
    assert_int_equal(csn_line_table_encode(START, rows, 4, whole, sizeof whole, &size, NULL), CSN_OK);
    for (size_t cap = 0; cap < size; cap++) {
        uint8_t *out = malloc(cap ? cap : 1);
        assert_non_null(out);
        assert_int_equal(csn_line_table_encode(START, rows, 4, out, cap, &needed, NULL), CSN_E_LIMIT);
        assert_int_equal(needed, size);
        free(out);
    }
    expect_rows(rows, 4, whole, size);
}

/* ---- size ---- */

/* Size of the table by the rules of the reference encoder (spec of GSYM, "Line encoder") with the window [min, max]. */
static size_t plain_size(const struct csn_row *rows, size_t count, int64_t min, int64_t max) {
    size_t size = csni_sleb_size(min) + csni_sleb_size(max) + csni_uleb_size(rows[0].line) + 1;
    struct csn_row before = { START, 1, rows[0].line };
    uint64_t range = (uint64_t)(max - min) + 1;
    for (size_t i = 0; i < count; before = rows[i++]) {
        uint64_t pc = rows[i].addr - before.addr;
        int64_t line = (int64_t)rows[i].line - before.line;
        if (rows[i].file != before.file) size += 1 + csni_uleb_size(rows[i].file);
        if (line >= min && line <= max && pc <= 251 && (uint64_t)(line - min) + range * pc <= 251) {
            size++;
            continue;
        }
        if (line) size += 1 + csni_sleb_size(line);
        size += 1 + csni_uleb_size(pc);
    }
    return size;
}

/* With the best of all windows of up to 16 lines around 0, by the plain rules: all tables together are no larger than that,
 * and none is much larger, as it was when the search began at one line delta and got stuck there. */
static void small_tables(void **state) {
    (void)state;
    static struct csn_row rows[MAX_ROWS];
    seed = 42;
    size_t all = 0, all_plain = 0;
    for (int round = 0; round < 200; round++) {
        size_t count = make_rows(&shapes[1 + round % 3], rows), size, best = SIZE_MAX;
        assert_int_equal(csn_line_table_encode(START, rows, count, NULL, 0, &size, NULL), CSN_E_LIMIT);
        for (int min = -16; min <= 0; min++)
            for (int max = min; max < min + 16; max++) {
                size_t plain = plain_size(rows, count, min, max);
                if (plain < best) best = plain;
            }
        if (size > best + best / 4 + 1)
            fail_msg("%zu rows: %zu bytes, the best plain window takes %zu", count, size, best);
        all += size;
        all_plain += best;
    }
    if (all > all_plain) fail_msg("%zu bytes, the best plain windows take %zu", all, all_plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(lines_stay_in_range),
        cmocka_unit_test(random_rows),
        cmocka_unit_test(every_small_capacity),
        cmocka_unit_test(small_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
