/* bpftrace's ustack and kstack.
 *
 *             orders_load+9                             of a program with symbols: a decimal offset
 *             shop::load(int, char const*)+9            demangled
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

/* "shop::load(int, char const*)", "shop::Cart::total() const", "shop::load(int) [clone .cold]": of names with blanks
 * nothing else is a function. */
static bool is_demangled(struct csn_str name) {
    const struct line_scan s = scan_on(name);
    size_t clone;
    const bool is_clone = ends_with(name, "]") && scan_find(&s, ") [clone .", &clone);
    return memchr(name.ptr, '(', name.len) && (is_clone || ends_with(name, ")") || ends_with(name, ") const"));
}

/* "orders_load+9" up to a blank or the end. */
static bool read_bpftrace_symbol(struct line_scan *s, struct line_frame *out) {
    const size_t from = s->at;
    size_t plus, image = s->line.len;
    scan_find(s, " (/", &image);
    struct line_scan part = { { s->line.ptr, image }, from };
    if (!scan_find_last(&part, '+', &plus) || plus == from) return false;
    const struct csn_str name = { part.line.ptr + from, plus - from };
    const bool is_word = !memchr(name.ptr, ' ', name.len) && !memchr(name.ptr, '+', name.len);
    part.at = plus + 1;
    if (!scan_number(&part, 10, &out->symbol_offset) || (!is_word && !is_demangled(name))) return false;
    if (!scan_at_end(&part) && scan_peek(&part) != ' ') return false;
    out->symbol = name;
    out->has_symbol_offset = true;
    s->at = part.at;
    return true;
}

/* In the indexes that were given; otherwise it is the kernel's. */
static bool find_symbol(struct stack_session *session, struct csn_str name, uint64_t offset, struct csn_str *module) {
    const struct symbol_site site = { .name = name, .offset = offset };
    return stack_place_symbol(session, &site, module) || (is_demangled(name) && stack_modules_demangled(session, &site, module));
}

/* "	ffffffff821f2c2b pv_native_safe_halt+11" */
static bool read_perf_mode(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    uint64_t pc;
    if (!scan_number(&at, 16, &pc) || !scan_char(&at, ' ') || !read_bpftrace_symbol(&at, out)) return false;
    if (scan_text(&at, " (")) {
        size_t close;
        if (!scan_find_last(&at, ')', &close) || close + 1 != at.line.len) return false;
        out->module = (struct csn_str){ at.line.ptr + at.at, close - at.at };
        at.at = close + 1;
    }
    if (!scan_at_end(&at)) return false;
    out->pc = pc;
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
    if (out->pc >> 63 || !find_symbol(modules->session, out->symbol, out->symbol_offset, &out->module))
        out->module = (struct csn_str){ kernel, sizeof(kernel) - 1 };
    return KIND_FRAME;
}

const struct stack_dialect bpftrace_dialect = { .name = "bpftrace", .marks = { MARK_INDENT | MARK_PLUS },
                                                .read = read_bpftrace_line, .fill = fill_line_in_brackets };
