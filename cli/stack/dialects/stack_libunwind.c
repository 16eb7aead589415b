/* Loops over libunwind's cursor, as its manual and most programs print them.
 *
 *     0x7fc9ea6d013b: (parse_line+0x42)
 *     0x7fc9ea6d0161: -- error: unable to obtain symbol name for this frame
 *     ip = 7fc9ea6d013b, sp = 7ffd8d018630 */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* "(parse_line+0x42)" */
static bool read_symbol_in_brackets(struct line_scan *s, struct line_frame *out) {
    size_t plus;
    if (!scan_char(s, '(') || !scan_find_last(s, '+', &plus)) return false;
    out->symbol = (struct csn_str){ s->line.ptr + s->at, plus - s->at };
    s->at = plus + 1;
    out->has_symbol_offset = scan_hex(s, &out->symbol_offset);
    return out->has_symbol_offset && scan_char(s, ')');
}

static bool read_cursor(struct line_scan *s, struct line_frame *out) {
    uint64_t stack;
    if (scan_text(s, "ip = ")) {
        if (!scan_hex(s, &out->value) && !scan_number(s, 16, &out->value)) return false;
        return scan_text(s, ", sp = ") && (scan_hex(s, &stack) || scan_number(s, 16, &stack));
    }
    if (!scan_hex(s, &out->value) || !scan_text(s, ": ")) return false;
    return read_symbol_in_brackets(s, out) || scan_text(s, "-- error: unable to obtain symbol name");
}

static enum line_kind read_libunwind_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                          struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state, (void)modules, (void)open;
    scan_blanks(&s);
    if (!read_cursor(&s, out)) return KIND_NONE;
    out->pc = out->value;
    out->by_maps = true;
    out->flags = CSN_STACK_RETURN;
    out->fill_at = out->fill_end = line.len;
    return KIND_FRAME;
}

const struct stack_dialect libunwind_dialect = { .name = "libunwind", .marks = { MARK_START_HEX | MARK_HEX, MARK_REGISTER },
                                                 .read = read_libunwind_line, .fill = fill_line_in_brackets };
