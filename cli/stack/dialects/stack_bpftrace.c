/* bpftrace's ustack and kstack.
 *
 *             orders_load+9                             of a program with symbols: a decimal offset
 *             0x7f1af12fe161                            without
 *     	ffffffff821f2c2b pv_native_safe_halt+11            mode perf: as perf has it, but the offset decimal
 *     	    7f1af12fe161 orders_load+9 (/opt/app/liborders.so)
 *     @[
 *         do_idle+310
 *     ]: 12
 *
 * The text does not show which stacks are the kernel's: a function is looked for in the given indexes and in vmlinux. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

/* "orders_load+9" up to a blank or the end. */
static bool read_bpftrace_symbol(struct line_scan *s, struct line_frame *out) {
    struct csn_str word;
    size_t from = s->at, plus;
    if (!scan_word(s, &word)) return false;
    struct line_scan part = { { s->line.ptr, s->at }, from };
    if (!scan_find_last(&part, '+', &plus) || plus == from || memchr(part.line.ptr + from, '+', plus - from)) return false;
    part.at = plus + 1;
    if (!scan_number(&part, 10, &out->symbol_offset) || !scan_at_end(&part)) return false;
    out->symbol = (struct csn_str){ s->line.ptr + from, plus - from };
    out->has_symbol_offset = true;
    return true;
}

/* "	ffffffff821f2c2b pv_native_safe_halt+11" */
static bool read_perf_mode(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    if (!scan_number(&at, 16, &out->pc) || !scan_char(&at, ' ') || !read_bpftrace_symbol(&at, out)) return false;
    if (scan_text(&at, " (")) {
        size_t close;
        if (!scan_find_last(&at, ')', &close) || close + 1 != at.line.len) return false;
        out->module = (struct csn_str){ at.line.ptr + at.at, close - at.at };
        at.at = close + 1;
    }
    if (!scan_at_end(&at)) return false;
    *s = at;
    return true;
}

static enum line_kind read_bpftrace_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    static const char kernel[] = "vmlinux";
    struct line_scan s = scan_on(line);
    (void)state;
    if (!scan_blanks(&s)) return KIND_NONE;
    out->fill_at = out->fill_end = line.len;
    out->by_maps = true;
    out->flags = open ? CSN_STACK_EITHER : CSN_STACK_EXACT;
    if (open && scan_hex(&s, &out->value) && scan_at_end(&s)) return KIND_FRAME;
    s.at = 0;
    scan_blanks(&s);
    bool is_perf = read_perf_mode(&s, out);
    if (!is_perf && (!read_bpftrace_symbol(&s, out) || !scan_at_end(&s))) return KIND_NONE;
    if (out->module.len && out->module.ptr[0] != '[') {
        out->site = SITE_PC;
        out->value = out->pc;
        return KIND_FRAME;
    }
    out->site = SITE_SYMBOL;
    out->value = out->symbol_offset;
    const struct symbol_site site = { .name = out->symbol, .offset = out->symbol_offset };
    if (out->pc >> 63 || !stack_place_symbol(modules->session, &site, &out->module))
        out->module = (struct csn_str){ kernel, sizeof(kernel) - 1 };
    return KIND_FRAME;
}

const struct stack_dialect bpftrace_dialect = { .name = "bpftrace", .marks = { MARK_INDENT | MARK_PLUS },
                                                .read = read_bpftrace_line, .fill = fill_line_in_brackets };
