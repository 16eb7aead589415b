/* Stacks of mdb on illumos and Solaris (`$C`, `::stack`), and of panics.
 *
 *     fffffe00b6e59c60 usb_console_input_enter+0x13(0)
 *     fffffe00b6e59d10 prom_exit_to_mon+9()                    below 10 without 0x
 *     fffffd7fffdff9a0 libc.so.1`__pause+0xa()
 *     ffffff003d46c750 genunix:vmem_alloc+dd ()                of a panic: always without 0x
 *
 * The first column is the frame's own address. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

static bool read_frame_pointer(struct line_scan *s) {
    uint64_t value;
    const size_t from = s->at;
    if (!scan_number(s, 16, &value)) return false;
    return (s->at - from == 16 || s->at - from == 8) && scan_char(s, ' ');
}

/* "(0, fffffe83d2e5d300)" to the end of the line, or what was filled in before. */
static bool is_arguments(struct line_scan s) {
    scan_char(&s, ' ');
    if (!scan_char(&s, '(')) return false;
    while (!scan_at_end(&s) && (scan_digit_value(scan_peek(&s)) < 16 || strchr(", x", scan_peek(&s)))) s.at++;
    return scan_char(&s, ')') && scan_at_end(&s);
}

/* "libc.so.1`__pause+0xa", "genunix:vmem_alloc+dd" */
static bool read_function(struct line_scan *s, struct line_frame *out) {
    size_t plus, end;
    if (!scan_find(s, "+", &plus)) return false;
    struct csn_str name = { s->line.ptr + s->at, plus - s->at };
    struct line_scan mark = scan_on(name);
    if (memchr(name.ptr, ' ', name.len)) return false;
    if (scan_find(&mark, "`", &end) || (scan_find(&mark, ":", &end) && end + 1 < name.len && name.ptr[end + 1] != ':')) {
        out->module = (struct csn_str){ name.ptr, end };
        name = (struct csn_str){ name.ptr + end + 1, name.len - end - 1 };
    }
    out->symbol = name;
    s->at = plus + 1;
    return name.len && (scan_hex(s, &out->value) || scan_number(s, 16, &out->value));
}

static enum line_kind read_illumos_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state, (void)modules;
    if (!read_frame_pointer(&s) || !read_function(&s, out) || !is_arguments(s)) return KIND_NONE;
    out->site = SITE_SYMBOL;
    if (open) out->flags = CSN_STACK_RETURN;
    out->fill_at = out->fill_end = line.len;
    return KIND_FRAME;
}

const struct stack_dialect illumos_dialect = { .name = "illumos", .is_flush = true, .marks = { MARK_ADDRESS },
                                               .read = read_illumos_line, .fill = fill_line_in_brackets };
