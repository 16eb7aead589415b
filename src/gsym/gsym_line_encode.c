/* Encoding of line tables.
 *
 * A row costs one byte when its line delta lies within the window [min, max] of the special opcodes and its address delta
 * is small enough for the window's width. A narrow window reaches farther in addresses, a wide one in lines. The window
 * starts around the most frequent deltas and is moved a step at a time while the exact size of the table shrinks. */
#include "gsym/gsym_line_encode.h"

#include <string.h>

#include <callsign/line_table.h>

#include "base/fail.h"
#include "base/leb128.h"
#include "gsym/gsym_layout.h"

enum { SPECIAL_MAX = 255 - CSNI_GSYM_LINE_FIRST_SPECIAL }; /* largest operand of a special opcode */
enum { ROW_BYTES_MAX = 1 + 5 + 1 + 6 + 1 + CSNI_LEB_MAX };  /* file, line, address */

struct window {
    int64_t min;
    uint32_t width; /* 1..SPECIAL_MAX + 1 */
};

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

static inline struct plan plan_row(struct window w, uint64_t pc_delta, int64_t line_delta) {
    int64_t k = line_delta - w.min;
    uint64_t base = w.width * pc_delta;
    if (pc_delta > SPECIAL_MAX || base > SPECIAL_MAX) {
        unsigned size = 1 + (unsigned)csni_uleb_size(pc_delta);
        if (line_delta) size += 1 + (unsigned)csni_sleb_size(line_delta);
        return (struct plan){ size, false, line_delta, 0 };
    }
    int64_t top = SPECIAL_MAX - (int64_t)base;
    if (top > (int64_t)w.width - 1) top = (int64_t)w.width - 1;
    if (k >= 0 && k <= top) return (struct plan){ 1, true, 0, (uint32_t)(base + (uint64_t)k) };
    if (!line_delta) return (struct plan){ 1 + (unsigned)csni_uleb_size(pc_delta), false, 0, 0 };
    /* ADVANCE_LINE brings the delta into the window; the special opcode then does the rest in one byte. */
    int64_t rest = k < 0 ? 0 : top;
    return (struct plan){ 2 + (unsigned)csni_sleb_size(k - rest), true, k - rest, (uint32_t)(base + (uint64_t)rest) };
}

/* ---- choosing the window ---- */

enum {
    SAMPLE_MAX = 2048, /* rows that are looked at; the rest of a longer table is much the same */
    LANES = 8          /* rows of one step of vector code */
};

/* Rows as the search for a window sees them: 16-bit lanes, which compilers turn into vector code. Most tables are short, so
 * the last step is filled up with rows that are never special, instead of being done row by row. */
struct sample {
    uint32_t count, padded;
    uint16_t pc[SAMPLE_MAX];   /* address delta; what is too large to be special is cut */
    uint16_t line[SAMPLE_MAX]; /* line delta, two's complement; likewise */
    uint16_t saved[SAMPLE_MAX]; /* bytes that the row saves where it is special */
    uint32_t total;            /* bytes of all rows if none is special */
};

static inline void take_sample(const struct rows *r, struct sample *s) {
    s->count = r->count < SAMPLE_MAX ? (uint32_t)r->count : SAMPLE_MAX;
    uint64_t off = 0;
    int64_t line = row_line(r, 0);
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t pc = row_off(r, i) - off;
        int64_t delta = (int64_t)row_line(r, i) - line;
        s->pc[i] = pc <= SPECIAL_MAX ? (uint16_t)pc : SPECIAL_MAX + 1;
        s->line[i] = (uint16_t)(delta > INT16_MAX ? INT16_MAX : delta < INT16_MIN ? INT16_MIN : delta);
        off += pc;
        line += delta;
    }
    s->padded = (s->count + LANES - 1) & ~(LANES - 1U);
    for (uint32_t i = s->count; i < s->padded; i++) {
        s->pc[i] = SPECIAL_MAX + 1;
        s->line[i] = 0;
    }
}

/* What a row saves: ADVANCE_LINE and a byte of its operand, or else the operand of ADVANCE_PC. Of rows that are never special
 * only that it is not 0 matters: the total is compared with other totals, and with that of a table of special rows alone. */
static void weigh_sample(struct sample *s) {
    uint16_t total = 0; /* at most 2 * SAMPLE_MAX */
    const uint32_t padded = s->padded & ~(LANES - 1U);
    for (uint32_t i = 0; i < padded; i++) {
        s->saved[i] = (uint16_t)(2 - ((s->line[i] == 0) & (s->pc[i] < 0x80)));
        total = (uint16_t)(total + s->saved[i]);
    }
    s->total = (uint32_t)total - 2 * (padded - s->count) + s->count;
}

/* Bytes of the opcodes of these rows. The loop has no branch, for the sake of vector code. */
static size_t window_cost(const struct sample *s, struct window w) {
    const uint16_t min = (uint16_t)w.min, width = (uint16_t)w.width;
    const uint32_t padded = s->padded & ~(LANES - 1U); /* so that the compiler knows it, too */
    uint16_t saved = 0;
    for (uint32_t i = 0; i < padded; i++) {
        uint16_t k = (uint16_t)(s->line[i] - min), operand = (uint16_t)(s->pc[i] * width + k);
        uint16_t special = (uint16_t)((k < width) & (operand <= SPECIAL_MAX));
        saved = (uint16_t)(saved + (s->saved[i] & (uint16_t)-special));
    }
    return s->total - saved + csni_sleb_size(w.min) + csni_sleb_size(w.min + (int64_t)w.width - 1);
}

/* The window around the line deltas that occur most, among those that can matter. */
static struct window first_window(const struct sample *s) {
    enum { REACH = 16 };
    uint32_t counts[2 * REACH + 1] = { 0 };
    for (uint32_t i = 1; i < s->count; i++) {
        uint16_t at = (uint16_t)(s->line[i] + REACH);
        if (at <= 2 * REACH) counts[at]++;
    }
    unsigned best = REACH;
    for (unsigned i = 0; i <= 2 * REACH; i++)
        if (counts[i] > counts[best]) best = i;
    unsigned low = best, high = best;
    /* Over gaps too: sliding a step at a time does not get across one. */
    for (unsigned i = 1; i <= 4 && i <= best; i++)
        if (counts[best - i]) low = best - i;
    for (unsigned i = 1; i <= 6 && best + i <= 2 * REACH; i++)
        if (counts[best + i]) high = best + i;
    return (struct window){ (int64_t)low - REACH, high - low + 1 };
}

/* Moves the window by (min, width) as long as the table shrinks; true when it did. */
static bool slide(const struct sample *s, struct window *w, size_t *cost, int min, int width) {
    bool moved = false;
    for (;;) {
        struct window next = { w->min + min, (uint32_t)((int64_t)w->width + width) };
        if (next.width < 1 || next.width > SPECIAL_MAX) return moved;
        size_t now = window_cost(s, next);
        if (now >= *cost) return moved;
        *w = next;
        *cost = now;
        moved = true;
    }
}

static struct window best_window(const struct sample *s) {
    struct window w = first_window(s);
    size_t cost = window_cost(s, w), least = (size_t)s->count + 2;
    for (bool moved = true; moved && cost > least;) {
        moved = slide(s, &w, &cost, 0, 1);
        if (!moved) moved = slide(s, &w, &cost, 0, -1);
        moved |= slide(s, &w, &cost, -1, 1);
        moved |= slide(s, &w, &cost, 1, -1);
    }
    return w;
}

static inline struct window choose_window(const struct rows *r) {
    if (r->count < 2) return (struct window){ 0, 1 };
    struct sample sample;
    take_sample(r, &sample);
    weigh_sample(&sample);
    return best_window(&sample);
}

/* ---- writing ---- */

static inline uint8_t *put_row(uint8_t *p, struct window w, uint64_t pc_delta, int64_t line, int64_t line_delta) {
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

static inline uint8_t *put_prologue(uint8_t *p, struct window w, uint32_t first_line) {
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

static inline uint8_t *put_next(uint8_t *p, const struct rows *r, size_t i, struct window w, struct state *s) {
    uint32_t file = row_file(r, i);
    if (file != s->file) {
        *p++ = CSNI_GSYM_LINE_SET_FILE;
        p = csni_put_uleb(p, file);
        s->file = file;
    }
    uint64_t off = row_off(r, i);
    int64_t line = row_line(r, i);
    p = put_row(p, w, off - s->off, s->line, line - s->line);
    s->off = off;
    s->line = line;
    return p;
}

size_t csni_gsym_line_bound(size_t count) { return 3 * CSNI_LEB_MAX + count * ROW_BYTES_MAX + 1; }

size_t csni_gsym_encode_lines(const struct csni_row *steps, size_t count, const uint32_t *file_numbers,
                              uint8_t *out) {
    const struct rows r = { .steps = steps, .count = count, .file_numbers = file_numbers };
    struct window w = choose_window(&r);
    struct state s = { 0, row_line(&r, 0), CSNI_GSYM_LINE_FIRST_FILE };
    uint8_t *p = put_prologue(out, w, row_line(&r, 0));
    for (size_t i = 0; i < count; i++) p = put_next(p, &r, i, w, &s);
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
    struct window w = choose_window(&r);
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
