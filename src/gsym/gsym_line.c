/* GSYM line tables: reading rows one after another, and finding the row of one address. */
#include <callsign/line_table.h>

#include "base/cursor.h"
#include "gsym/gsym.h"
#include "gsym/gsym_layout.h"

/* What the prologue says. */
struct window {
    uint64_t range; /* number of line deltas of the special opcodes, >= 1 */
    uint32_t min;   /* the smallest, modulo 2^32 */
    uint32_t first_line;
};

CSNI_COLD static csn_status truncated(const char *section, uint64_t offset, uint64_t size, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section, offset, "line table of %llu bytes has no end mark",
                     (unsigned long long)size);
}

static csn_status read_prologue(const struct csni_gsym_lines *lines, struct csni_cursor *c, struct window *out,
                                struct csn_error *err) {
    *c = csni_cursor_at(lines->bytes, false);
    int64_t min = csni_cursor_sleb(c), max = csni_cursor_sleb(c);
    out->first_line = (uint32_t)csni_cursor_uleb(c);
    if (c->failed) return truncated(lines->section, lines->offset, lines->bytes.size, err);
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
        return truncated(iter->section, iter->offset + c.failed_at, (uint64_t)(iter->end - iter->begin), err);
    iter->p = c.p;
    if (iter->done) return CSN_NONE;
    *out = (struct csn_row){ iter->addr, iter->file, iter->line };
    return CSN_OK;
}

csn_status csni_gsym_line_find(const struct csni_gsym_lines *lines, uint64_t addr, struct csn_row *out,
                               struct csn_error *err) {
    struct csni_gsym_row_iter iter;
    CSNI_TRY(csni_gsym_rows(&iter, lines, err));
    struct csn_row row, best = { 0, 0, 0 };
    bool found = false;
    csn_status status;
    while ((status = csni_gsym_row_next(&iter, &row, err)) == CSN_OK && row.addr <= addr) {
        best = row;
        found = true;
    }
    if (status < 0) return status;
    if (!found) return CSN_NONE;
    *out = best;
    return CSN_OK;
}
