/* Folded stacks, the input of flame graphs: a stack a line, outermost first, with a count.
 *
 *     orders;main;[liborders.so <1161>];[liborders.so <113b>] 12        stackcollapse-perf --addrs, inferno: as perf has the address
 *     orders;main;liborders.so+0x1161;liborders.so+0x113b 12
 *     orders;0x55d000001461;0x7f1af12fe161 12
 *
 * Names stay as they are. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "ui/text_bytes.h"

/* Where the stack ends: at the blank before the count. */
static bool find_count(struct csn_str line, size_t *end) {
    const size_t at = folded_count_at(line);
    if (at) *end = at - 1;
    return at != 0;
}

/* "[liborders.so <1161>]" */
static bool read_perf_element(struct csn_str text, struct line_frame *out) {
    struct line_scan s = scan_on(text);
    size_t open;
    if (text.len < 6 || text.ptr[0] != '[' || memcmp(text.ptr + text.len - 2, ">]", 2) != 0 ||
        !scan_find(&s, " <", &open))
        return false;
    struct line_scan number = { { text.ptr, text.len - 2 }, open + 2 };
    if (!scan_number(&number, 16, &out->value) || !scan_at_end(&number)) return false;
    out->module = (struct csn_str){ text.ptr + 1, open - 1 };
    out->site = SITE_FILE_OFFSET;
    return out->module.len > 0;
}

/* "liborders.so+0x1161" or "0x7f1af12fe161" */
static bool read_offset_element(struct csn_str text, struct line_frame *out) {
    struct line_scan s = scan_on(text);
    size_t plus;
    if (scan_hex(&s, &out->value)) {
        out->pc = out->value;
        return scan_at_end(&s);
    }
    if (!scan_find_last(&s, '+', &plus) || !plus) return false;
    s.at = plus + 1;
    if (!scan_hex(&s, &out->value) || !scan_at_end(&s)) return false;
    out->module = (struct csn_str){ text.ptr, plus };
    out->site = SITE_LESS_BIAS;
    return true;
}

/* The first element from `from` on that is an address. */
static bool read_element(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    size_t end;
    (void)state;
    if (!find_count(line, &end)) return false;
    while (from < end) {
        if (line.ptr[from] == ';') from++;
        const char *semicolon = memchr(line.ptr + from, ';', end - from);
        size_t next = semicolon ? (size_t)(semicolon - line.ptr) : end;
        struct csn_str text = { line.ptr + from, next - from };
        *out = (struct line_frame){ .site = SITE_PC, .outermost_first = true, .by_maps = true, .fill_at = from, .fill_end = next };
        if (read_perf_element(text, out) || read_offset_element(text, out)) {
            out->flags = next == end ? CSN_STACK_EXACT : CSN_STACK_EITHER;
            out->end = next;
            return true;
        }
        from = next + (next == from);
    }
    return false;
}

static enum line_kind read_folded_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    (void)modules, (void)open;
    if (!memchr(line.ptr, ';', line.len)) return KIND_NONE;
    return read_element(state, line, 0, out) ? KIND_FIRST : KIND_NONE;
}

/* Inlined calls become elements after the one that they were inlined into. */
static void fill_folded(struct line_filler *f) {
    fill_part(f, 0, f->at->fill_at);
    for (uint32_t k = f->answer->frame_count; k-- > 0;) {
        fill_name(f, k);
        if (k) out_char(f->out, ';');
    }
    fill_part(f, f->at->fill_end, f->text.len);
    fill_ending(f);
}

const struct stack_dialect folded_dialect = {
    .name = "folded", .marks = { MARK_FOLDED }, .read = read_folded_line, .more = read_element, .fill = fill_folded
};
