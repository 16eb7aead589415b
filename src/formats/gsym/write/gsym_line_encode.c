/* Encoding of line tables.
 *
 * A row costs one byte when its line delta lies within the window [min, max] of the special opcodes and its address delta
 * is small enough for the window's width. A narrow window reaches farther in addresses, a wide one in lines. */
#include "formats/gsym/write/gsym_line_encode.h"

#include <string.h>

#include <callsign/line_table.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/leb128.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_line_window.h"

enum { ROW_BYTES_MAX = 1 + 5 + 1 + 6 + 1 + CSNI_LEB_MAX };  /* file, line, address */

/* Rows of either kind, so that both callers share one encoder; `wide` is known where this is inlined. */
struct rows {
    const struct csni_row *steps;
    const struct csn_row *wide;
    uint64_t start;
    size_t count;
    const uint32_t *file_numbers;
};

static inline uint64_t row_off(const struct rows *r, size_t i) {
    return r->wide ? r->wide[i].addr - r->start : r->steps[i].off;
}
static inline uint32_t row_line(const struct rows *r, size_t i) { return r->wide ? r->wide[i].line : r->steps[i].line; }
static inline uint32_t row_file(const struct rows *r, size_t i) {
    uint32_t file = r->wide ? r->wide[i].file : r->steps[i].file;
    return r->file_numbers ? r->file_numbers[file] : file;
}

/* How one row is written. */
struct plan {
    unsigned size;    /* bytes */
    bool special;     /* ends in a special opcode, else in ADVANCE_PC */
    int64_t advance;  /* operand of ADVANCE_LINE; 0: none */
    uint32_t operand; /* of the special opcode */
};

static inline struct plan plan_row(struct csni_line_window w, uint64_t pc_delta, int64_t line_delta) {
    int64_t k = line_delta - w.min;
    uint64_t base = w.width * pc_delta;
    if (pc_delta > CSNI_SPECIAL_MAX || base > CSNI_SPECIAL_MAX) {
        unsigned size = 1 + (unsigned)csni_uleb_size(pc_delta);
        if (line_delta) size += 1 + (unsigned)csni_sleb_size(line_delta);
        return (struct plan){ size, false, line_delta, 0 };
    }
    int64_t top = CSNI_SPECIAL_MAX - (int64_t)base;
    if (top > (int64_t)w.width - 1) top = (int64_t)w.width - 1;
    if (k >= 0 && k <= top) return (struct plan){ 1, true, 0, (uint32_t)(base + (uint64_t)k) };
    if (!line_delta) return (struct plan){ 1 + (unsigned)csni_uleb_size(pc_delta), false, 0, 0 };
    /* ADVANCE_LINE brings the delta into the window; the special opcode then does the rest in one byte. */
    int64_t rest = k < 0 ? 0 : top;
    return (struct plan){ 2 + (unsigned)csni_sleb_size(k - rest), true, k - rest, (uint32_t)(base + (uint64_t)rest) };
}

/* ---- choosing the window ---- */

static inline struct csni_line_window choose_window(const struct rows *r, struct csni_line_sample *sample) {
    if (r->count < 2) return (struct csni_line_window){ 0, 1 };
    sample->count = r->count < CSNI_SAMPLE_MAX ? (uint32_t)r->count : CSNI_SAMPLE_MAX;
    if (r->steps && csni_has_byte_blocks() && csni_sample_rows_avx2(sample, r->steps)) return csni_best_line_window(sample);
    csni_sample_row(sample, 0, row_off(r, 0), 0);
    for (uint32_t i = 1; i < sample->count; i++)
        csni_sample_row(sample, i, row_off(r, i) - row_off(r, i - 1), (int64_t)row_line(r, i) - row_line(r, i - 1));
    return csni_best_line_window(sample);
}

/* ---- writing ---- */

static inline uint8_t *put_gsym_row(uint8_t *p, struct csni_line_window w, uint64_t pc_delta, int64_t line,
                                    int64_t line_delta) {
    struct plan plan = plan_row(w, pc_delta, line_delta);
    if (plan.advance) {
        /* gsym-rs refuses tables with lines, even between two opcodes, that are no 32-bit numbers. */
        if (line + plan.advance < 0 || line + plan.advance > UINT32_MAX) plan = (struct plan){ .advance = line_delta };
        *p++ = CSNI_GSYM_LINE_ADVANCE_LINE;
        p = csni_put_sleb(p, plan.advance);
    }
    if (plan.special) {
        *p++ = (uint8_t)(CSNI_GSYM_LINE_FIRST_SPECIAL + plan.operand);
        return p;
    }
    *p++ = CSNI_GSYM_LINE_ADVANCE_PC;
    return csni_put_uleb(p, pc_delta);
}

static inline uint8_t *put_prologue(uint8_t *p, struct csni_line_window w, uint32_t first_line) {
    p = csni_put_sleb(p, w.min);
    p = csni_put_sleb(p, w.min + (int64_t)w.width - 1);
    return csni_put_uleb(p, first_line);
}

/* Where the encoding stands. */
struct state {
    uint64_t off;
    int64_t line;
    uint32_t file;
};

static inline uint8_t *put_gsym_file(uint8_t *p, struct state *s, uint32_t file) {
    if (file == s->file) return p;
    s->file = file;
    *p++ = CSNI_GSYM_LINE_SET_FILE;
    return csni_put_uleb(p, file);
}

static inline uint8_t *put_next(uint8_t *p, const struct rows *r, size_t i, struct csni_line_window w, struct state *s) {
    p = put_gsym_file(p, s, row_file(r, i));
    uint64_t off = row_off(r, i);
    int64_t line = row_line(r, i);
    p = put_gsym_row(p, w, off - s->off, s->line, line - s->line);
    s->off = off;
    s->line = line;
    return p;
}

size_t csni_gsym_line_bound(size_t count) { return 3 * CSNI_LEB_MAX + count * ROW_BYTES_MAX + 1; }

/* Rows whose bytes csni_plan_rows_avx2() has told. */
static uint8_t *put_planned(uint8_t *p, const struct rows *r, struct csni_line_window w,
                            const struct csni_row_plans *plans) {
    struct state s = { 0, 0, CSNI_GSYM_LINE_FIRST_FILE };
    /* From these lines no part of a delta leads to a line that put_gsym_row() would not have. */
    int64_t low = w.min + (int64_t)w.width - 1, high = UINT32_MAX + w.min;
    for (size_t i = 0; i < r->count; i++) {
        p = put_gsym_file(p, &s, row_file(r, i));
        uint32_t size = plans->sizes[i];
        int64_t line = row_line(r, i);
        csni_put32(p, plans->bytes[i], false);
        if (size == 1 || (size && line >= low && line <= high)) {
            p += size;
            continue;
        }
        size_t before = i ? i - 1 : 0;
        uint64_t pc_delta = i ? row_off(r, i) - row_off(r, before) : row_off(r, 0);
        p = put_gsym_row(p, w, pc_delta, row_line(r, before), line - row_line(r, before));
    }
    return p;
}

size_t csni_gsym_encode_lines(const struct csni_row *steps, size_t count, const uint32_t *file_numbers,
                              uint8_t *out) {
    const struct rows r = { .steps = steps, .count = count, .file_numbers = file_numbers };
    struct csni_line_sample sample;
    struct csni_line_window w = choose_window(&r, &sample);
    uint8_t *p = put_prologue(out, w, row_line(&r, 0));
    if (count > 1 && count <= CSNI_SAMPLE_MAX && csni_has_byte_blocks()) {
        struct csni_row_plans plans;
        csni_plan_rows_avx2(&sample, w, &plans);
        p = put_planned(p, &r, w, &plans);
    } else {
        struct state s = { 0, row_line(&r, 0), CSNI_GSYM_LINE_FIRST_FILE };
        for (size_t i = 0; i < count; i++) p = put_next(p, &r, i, w, &s);
    }
    *p++ = CSNI_GSYM_LINE_END;
    return (size_t)(p - out);
}

csn_status csn_line_table_encode(uint64_t start, const struct csn_row *rows, size_t count, uint8_t *out, size_t cap,
                                 size_t *out_size, struct csn_error *err) {
    if (!count) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a line table needs at least one row, 0 given");
    for (size_t i = 0; i < count; i++) {
        uint64_t low = i ? rows[i - 1].addr : start;
        if (rows[i].addr < low)
            return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "row %zu has address 0x%llx, need >= 0x%llx", i,
                             (unsigned long long)rows[i].addr, (unsigned long long)low);
    }
    const struct rows r = { .wide = rows, .start = start, .count = count };
    struct csni_line_sample sample;
    struct csni_line_window w = choose_window(&r, &sample);
    struct state s = { 0, row_line(&r, 0), CSNI_GSYM_LINE_FIRST_FILE };
    uint8_t piece[3 * CSNI_LEB_MAX + ROW_BYTES_MAX];
    size_t size = 0;
    for (size_t i = 0; i <= count; i++) {
        uint8_t *p = i ? piece : put_prologue(piece, w, row_line(&r, 0));
        if (i < count) p = put_next(p, &r, i, w, &s);
        else *p++ = CSNI_GSYM_LINE_END;
        size_t n = (size_t)(p - piece);
        if (n <= cap && size <= cap - n) memcpy(out + size, piece, n);
        size += n;
    }
    *out_size = size;
    return size <= cap ? CSN_OK : csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu bytes needed, %zu given", size, cap);
}
