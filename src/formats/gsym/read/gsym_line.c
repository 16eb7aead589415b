/* GSYM line tables: reading rows one after another, and finding the row of one address. */
#include <callsign/line_table.h>

#include "base/core/cursor.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_line_scan.h"

/* What the prologue says. */
struct window {
    uint64_t range; /* number of line deltas of the special opcodes, >= 1 */
    uint32_t min;   /* the smallest, modulo 2^32 */
    uint32_t first_line;
};

CSNI_COLD static csn_status fail_line_truncated(const char *section, uint64_t offset, uint64_t size,
                                                struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section, offset, "line table of %llu bytes has no end mark",
                     (unsigned long long)size);
}

static CSNI_GSYM_INLINE csn_status read_prologue(const struct csni_gsym_lines *lines, struct csni_cursor *c,
                                                 struct window *out, struct csn_error *err) {
    *c = csni_cursor_at(lines->bytes, false);
    int64_t min, max;
    if (csni_cursor_left(c) >= 2 && !((c->p[0] | c->p[1]) & 0x80)) { /* as nearly all are: one byte each */
        min = (int8_t)(c->p[0] << 1) >> 1;
        max = (int8_t)(c->p[1] << 1) >> 1;
        c->p += 2;
    } else {
        min = csni_cursor_sleb(c);
        max = csni_cursor_sleb(c);
    }
    out->first_line = (uint32_t)csni_cursor_uleb(c);
    if (c->failed) return fail_line_truncated(lines->section, lines->offset, lines->bytes.size, err);
    out->min = (uint32_t)min;
    out->range = (uint64_t)max - (uint64_t)min + 1;
    if (max < min || out->range == 0)
        return csni_fail(err, CSN_E_FORMAT, lines->section, lines->offset,
                         "line deltas from %lld to %lld, need at least one and fewer than 2^64", (long long)min,
                         (long long)max);
    return CSN_OK;
}

csn_status csni_gsym_rows(struct csni_gsym_row_iter *iter, const struct csni_gsym_lines *lines, struct csn_error *err) {
    struct csni_cursor c;
    struct window window = { 1, 0, 0 };
    CSNI_TRY(read_prologue(lines, &c, &window, err));
    *iter = (struct csni_gsym_row_iter){ .begin = c.begin, .p = c.p, .end = c.end, .section = lines->section,
                                         .offset = lines->offset, .addr = lines->start, .range = window.range,
                                         .min = window.min, .file = CSNI_GSYM_LINE_FIRST_FILE,
                                         .line = window.first_line };
    return CSN_OK;
}

csn_status csni_gsym_row_next(struct csni_gsym_row_iter *iter, struct csn_row *out, struct csn_error *err) {
    if (iter->done) return CSN_NONE;
    struct csni_cursor c = { iter->begin, iter->p, iter->end, false, false, 0 };
    for (bool emitted = false; !emitted;) {
        unsigned op = csni_cursor_u8(&c);
        switch (op) {
        case CSNI_GSYM_LINE_END:
            iter->done = !c.failed;
            emitted = true;
            break;
        case CSNI_GSYM_LINE_SET_FILE:
            iter->file = (uint32_t)csni_cursor_uleb(&c);
            break;
        case CSNI_GSYM_LINE_ADVANCE_PC:
            iter->addr += csni_cursor_uleb(&c);
            emitted = true;
            break;
        case CSNI_GSYM_LINE_ADVANCE_LINE:
            iter->line += (uint32_t)csni_cursor_sleb(&c);
            break;
        default: {
            unsigned delta = op - CSNI_GSYM_LINE_FIRST_SPECIAL;
            iter->line += iter->min + (uint32_t)(delta % iter->range);
            iter->addr += delta / iter->range;
            emitted = true;
        }
        }
    }
    if (c.failed)
        return fail_line_truncated(iter->section, iter->offset + c.failed_at, (uint64_t)(iter->end - iter->begin), err);
    iter->p = c.p;
    if (iter->done) return CSN_NONE;
    *out = (struct csn_row){ iter->addr, iter->file - (iter->file ? iter->file_bias : 0), iter->line };
    return CSN_OK;
}

/* ---- finding one row ---- */

/* Reads opcodes up to and with the next row, if it is at or below `addr`. CSN_NONE at the end of the table or where the
 * row is after `addr`; CSN_E_TRUNCATED where there is no end. The state changes only with CSN_OK. */
static CSNI_GSYM_INLINE csn_status step_line_scan(struct csni_line_scan *scan, uint64_t addr) {
    const uint8_t *file_at = scan->file_at;
    uint32_t line = scan->line;
    struct csni_cursor c = { scan->p, scan->p, scan->end, false, false, 0 };
    for (;;) {
        uint64_t advance;
        unsigned op = csni_cursor_u8(&c);
        if (op >= CSNI_GSYM_LINE_FIRST_SPECIAL) {
            unsigned delta = op - CSNI_GSYM_LINE_FIRST_SPECIAL;
            advance = delta * scan->reciprocal >> 16;
            line += scan->min + delta - (uint32_t)(advance * scan->range);
        } else if (op == CSNI_GSYM_LINE_ADVANCE_PC) {
            advance = csni_cursor_uleb(&c);
            if (c.failed) return CSN_E_TRUNCATED;
        } else if (op == CSNI_GSYM_LINE_ADVANCE_LINE) {
            line += (uint32_t)csni_cursor_sleb(&c);
            continue;
        } else if (op == CSNI_GSYM_LINE_SET_FILE) {
            file_at = c.p;
            csni_cursor_uleb(&c);
            continue;
        } else {
            return c.failed ? CSN_E_TRUNCATED : CSN_NONE;
        }
        uint64_t next = scan->addr + advance;
        if (next > addr) return CSN_NONE;
        scan->addr = next;
        scan->line = line;
        scan->file_at = file_at;
        scan->p = c.p;
        scan->any = true;
        return CSN_OK;
    }
}

static uint32_t scan_file(const struct csni_line_scan *scan) {
    if (!scan->file_at) return scan->file;
    struct csni_cursor c = { scan->file_at, scan->file_at, scan->end, false, false, 0 };
    return (uint32_t)csni_cursor_uleb(&c);
}

static CSNI_GSYM_INLINE csn_status start(struct csni_line_scan *scan, const struct csni_gsym_lines *lines,
                                         struct csn_error *err) {
    struct csni_cursor c;
    struct window window = { 1, 0, 0 };
    CSNI_TRY(read_prologue(lines, &c, &window, err));
    *scan = (struct csni_line_scan){ .p = c.p, .end = c.end, .readable = lines->readable, .addr = lines->start,
                                     .range = window.range, .min = window.min, .line = window.first_line,
                                     .file = CSNI_GSYM_LINE_FIRST_FILE };
    /* floor(delta / range) for every delta of a special opcode, 0..251: the error delta / 65536 stays below 1 / range
     * while range <= 251, and the quotient is 0 beyond. */
    scan->reciprocal = window.range <= UINT16_MAX ? 65536 / (uint32_t)window.range + 1 : 1;
    return CSN_OK;
}

static CSNI_GSYM_INLINE csn_status go_on(struct csni_line_scan *scan, const struct csni_gsym_lines *lines,
                                         uint64_t addr, struct csn_row *out, struct csn_error *err) {
    bool wide = csni_has_byte_blocks();
    csn_status status;
    do {
        if (wide && csni_line_scan_avx2(scan, addr)) break;
        status = step_line_scan(scan, addr);
        if (status < 0) return fail_line_truncated(lines->section, lines->offset, lines->bytes.size, err);
    } while (status == CSN_OK);
    if (!scan->any) return CSN_NONE;
    *out = (struct csn_row){ scan->addr, scan_file(scan), scan->line };
    return CSN_OK;
}

csn_status csni_gsym_line_find(const struct csni_gsym_lines *lines, uint64_t addr, struct csn_row *out,
                               struct csn_error *err) {
    if (addr < lines->start) return CSN_NONE;
    struct csni_line_scan scan;
    CSNI_TRY(start(&scan, lines, err));
    return go_on(&scan, lines, addr, out, err);
}

csn_status csni_gsym_line_find_from(const struct csni_gsym_lines *lines, const struct csni_gsym_line_place *place, uint64_t addr,
                                    struct csn_row *out, struct csn_error *err) {
    if (addr < lines->start) return CSN_NONE;
    struct csni_line_scan scan;
    CSNI_TRY(start(&scan, lines, err));
    csni_line_scan_move(&scan, lines, place);
    return go_on(&scan, lines, addr, out, err);
}

csn_status csni_line_scan_start(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, struct csn_error *err) {
    return start(scan, lines, err);
}

csn_status csni_line_scan_to(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, uint64_t addr,
                             struct csn_row *out, struct csn_error *err) {
    return go_on(scan, lines, addr, out, err);
}

csn_status csni_line_scan_near(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, uint64_t addr,
                               struct csn_row *out, struct csn_error *err) {
    struct csni_line_scan s = *scan; /* a local, so that the loop does not go through memory */
    csn_status status;
    do status = step_line_scan(&s, addr);
    while (status == CSN_OK);
    *scan = s;
    if (status < 0) return fail_line_truncated(lines->section, lines->offset, lines->bytes.size, err);
    if (!s.any) return CSN_NONE;
    *out = (struct csn_row){ s.addr, scan_file(&s), s.line };
    return CSN_OK;
}

/* ---- the public calls ---- */

csn_status csn_line_table_decode(uint64_t start, const uint8_t *bytes, size_t size, struct csn_row *rows, size_t cap,
                                 size_t *out_count, struct csn_error *err) {
    struct csni_gsym_lines lines = { { bytes, size }, start, "line table", 0, bytes + size };
    struct csni_gsym_row_iter iter;
    CSNI_TRY(csni_gsym_rows(&iter, &lines, err));
    size_t count = 0;
    struct csn_row row;
    csn_status status;
    for (; (status = csni_gsym_row_next(&iter, &row, err)) == CSN_OK; count++)
        if (count < cap) rows[count] = row;
    if (status < 0) return status;
    *out_count = count;
    return CSN_OK;
}

csn_status csn_line_table_lookup(uint64_t start, const uint8_t *bytes, size_t size, uint64_t addr, struct csn_row *out,
                                 struct csn_error *err) {
    struct csni_gsym_lines lines = { { bytes, size }, start, "line table", 0, bytes + size };
    return csni_gsym_line_find(&lines, addr, out, err);
}
