/* formats/gsym/write/gsym_line_window.c and its vector code: samples, what windows save, and the bytes of rows,
 * against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "formats/gsym/write/gsym_line_encode.h"
#include "formats/gsym/write/gsym_line_window.h"

static uint64_t seed = 0x9e3779b97f4a7c15;
static uint32_t pick(uint32_t count) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 12) % count);
}

static void skip_without_vectors(void) {
    if (csni_has_byte_blocks()) return;
    print_message("no AVX2 here, or left out\n");
    skip();
}

/* Rows in memory of exactly their size. */
static struct csni_row *make_rows(uint32_t count, uint32_t reach, bool high) {
    struct csni_row *rows = malloc(count * sizeof *rows);
    assert_non_null(rows);
    struct csni_row row = { pick(2) ? 0 : pick(300), 1, high ? UINT32_MAX - 20 : 2 * reach + pick(1000) };
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = row;
        row.off += pick(10) ? pick(30) : pick(100000);
        if (high) row.line = pick(4) ? row.line ^ pick(16) : pick(2) ? 3 : UINT32_MAX - 1;
        else row.line += pick(2 * reach + 1) - (row.line > reach ? reach : 0);
    }
    return rows;
}

/* Counts around those of whole steps, and the longest. */
static uint32_t some_count(uint32_t round) {
    if (round % 7) return 2 + pick(60);
    return pick(2) ? CSNI_SAMPLE_MAX - pick(2) : 2 + pick(1000);
}

static void plain_sample(struct csni_line_sample *s, const struct csni_row *rows) {
    csni_sample_row(s, 0, rows[0].off, 0);
    for (uint32_t i = 1; i < s->count; i++)
        csni_sample_row(s, i, rows[i].off - rows[i - 1].off, (int64_t)rows[i].line - rows[i - 1].line);
}

static void samples(void **state) {
    (void)state;
    skip_without_vectors();
    static struct csni_line_sample plain, wide;
    for (uint32_t round = 0; round < 600; round++) {
        uint32_t count = some_count(round);
        struct csni_row *rows = make_rows(count, round % 2 ? 20 : 40000, round % 11 == 0);
        plain.count = wide.count = count;
        plain_sample(&plain, rows);
        bool fits = csni_sample_rows_avx2(&wide, rows);
        assert_true(fits || round % 11 == 0);
        if (fits) {
            assert_memory_equal(wide.pc, plain.pc, count * sizeof *plain.pc);
            assert_memory_equal(wide.line, plain.line, count * sizeof *plain.line);
        }
        free(rows);
    }
}

static uint32_t plain_savings(const struct csni_line_sample *s, int64_t min, int64_t width) {
    uint32_t saved = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t k = (int16_t)s->line[i] - min;
        bool special = k >= 0 && k < width && s->pc[i] * width + k <= CSNI_SPECIAL_MAX;
        if (special) saved += s->line[i] || s->pc[i] >= 0x80 ? 2 : 1;
    }
    return saved;
}

static void savings_of_windows(void **state) {
    (void)state;
    skip_without_vectors();
    static struct csni_line_sample s;
    for (uint32_t round = 0; round < 600; round++) {
        s.count = some_count(round);
        struct csni_row *rows = make_rows(s.count, round % 3 ? 12 : 2000, false);
        plain_sample(&s, rows);
        struct csni_line_window best = csni_best_line_window(&s); /* fills the sample up, and weighs it */
        uint32_t total = s.count;
        for (uint32_t i = 0; i < s.count; i++) total += s.line[i] || s.pc[i] >= 0x80 ? 2 : 1;
        assert_int_equal(s.total, total);
        assert_true(best.width >= 1 && best.width <= CSNI_SPECIAL_MAX);
        for (int k = 0; k < 4; k++) {
            struct csni_line_window w = { (int64_t)pick(60) - 30, 2 + pick(k ? 20 : CSNI_SPECIAL_MAX - 1) };
            if (!k) w = best;
            uint32_t saved[CSNI_NEARBY];
            csni_window_savings_avx2(&s, w, saved);
            assert_int_equal(saved[CSNI_SAME], plain_savings(&s, w.min, w.width));
            assert_int_equal(saved[CSNI_WIDER], plain_savings(&s, w.min, w.width + 1));
            assert_int_equal(saved[CSNI_LOWER], plain_savings(&s, w.min - 1, w.width + 1));
            if (w.width == 1) continue;
            assert_int_equal(saved[CSNI_NARROWER], plain_savings(&s, w.min, w.width - 1));
            assert_int_equal(saved[CSNI_HIGHER], plain_savings(&s, w.min + 1, w.width - 1));
        }
        free(rows);
    }
}

/* Every row between those that need one byte of operand, two, or more, and between special opcodes and none. */
static void rows_at_the_edges(void **state) {
    (void)state;
    skip_without_vectors();
    static const int32_t lines[] = { 0, 1, 63, 64, 65, 66, 67, 70, 8190, 8191, 8192, 8193, 8200,
                                     32766, 32767, 32768, 32769, 70000 };
    static const uint32_t advances[] = { 0, 1, 24, 25, 26, 62, 63, 125, 126, 127, 128, 250, 251, 252, 253, 65536 };
    enum { LINES = 2 * sizeof lines / sizeof *lines, ADVANCES = sizeof advances / sizeof *advances };
    static struct csni_line_sample s;
    static struct csni_row_plans plans;
    s.count = LINES * ADVANCES;
    for (uint32_t i = 0; i < s.count; i++) {
        int64_t line = lines[i / 2 % (LINES / 2)];
        csni_sample_row(&s, i, advances[i / LINES], i % 2 ? -line : line);
    }
    csni_best_line_window(&s);
    for (int64_t min = -70; min <= 70; min += 7) {
        for (uint32_t width = 1; width <= CSNI_SPECIAL_MAX; width += width < 10 ? 1 : 60) {
            csni_plan_rows_avx2(&s, (struct csni_line_window){ min, width }, &plans);
            for (uint32_t i = 0; i < s.count; i++) {
                int64_t line = lines[i / 2 % (LINES / 2)], base = (int64_t)width * advances[i / LINES];
                if (i % 2) line = -line;
                int64_t k = line - min, top = CSNI_SPECIAL_MAX - base < width - 1 ? CSNI_SPECIAL_MAX - base : width - 1;
                int64_t rest = k < 0 ? 0 : k < top ? k : top;
                uint8_t want[16], *p = want;
                if (k != rest) {
                    *p++ = CSNI_GSYM_LINE_ADVANCE_LINE;
                    p = csni_put_sleb(p, k - rest);
                }
                *p++ = (uint8_t)(CSNI_GSYM_LINE_FIRST_SPECIAL + base + rest);
                bool usual = base <= CSNI_SPECIAL_MAX && p - want <= 4 && (k == rest || line);
                if (!plans.sizes[i]) {
                    assert_true(!usual || line >= INT16_MAX || line <= -INT16_MAX);
                    continue;
                }
                assert_true(usual);
                assert_int_equal(plans.sizes[i], p - want);
                for (unsigned n = 0; n < plans.sizes[i]; n++) assert_int_equal(plans.bytes[i] >> 8 * n & 0xff, want[n]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples),
        cmocka_unit_test(savings_of_windows),
        cmocka_unit_test(rows_at_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
