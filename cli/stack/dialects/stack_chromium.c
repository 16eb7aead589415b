/* Stacks of Chromium's base::debug::StackTrace, and of LLVM's tools, which look alike.
 *
 *     #0 0x55cf2b2f6d22 <unknown>
 *     #1 0x7f1af12fe161 orders_load
 *     #2 0x7f1af12fe13b (/opt/app/liborders.so+0x113a)
 *      #3 0x00007f1af12fe161 orders_load (/opt/app/liborders.so+0x1161)       LLVM
 *      #4 0x00007f1af12fe13b check /opt/app/liborders.c:9:23                  with llvm-symbolizer: inlined calls have the address of
 *      #5 0x00007f1af12fe13b parse_line /opt/app/liborders.c:16:5             their caller
 *     	base::ImmediateCrash [0x00007FF612341139+19] (C:\src\crash.cc:12)      Windows
 *     	(No symbol) [0x00007FF612341139]
 *     	(No symbol) [0x0x7ff612341139] */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/module_offset.h"
#include "stack/lines/stack_fill.h"
#include "ui/text_bytes.h"

struct chromium_state {
    struct inlined_group group; /* of the frame before */
};

/* "(No symbol) [0x00007FF612341139]"; a name comes with an offset. */
static enum line_kind read_windows_frame(struct line_scan *s, struct line_frame *out) {
    size_t bracket;
    if (!scan_char(s, '\t') || !scan_find(s, " [0x", &bracket)) return KIND_NONE;
    size_t name = s->at;
    if (memchr(s->line.ptr + name, '\t', bracket - name)) return KIND_NONE; /* columns of a log */
    s->at = bracket + 2;
    if (scan_text(s, "0x0x")) s->at -= 2; /* chromedriver since 135 */
    if (!scan_hex(s, &out->value)) return KIND_NONE;
    if (scan_char(s, '+')) {
        if (!scan_number(s, 10, &out->symbol_offset) && !scan_hex(s, &out->symbol_offset)) return KIND_NONE;
        out->symbol = (struct csn_str){ s->line.ptr + name, bracket - name };
        out->has_symbol_offset = true;
    } else if (!has_text_at(s->line, name, "(No symbol) [")) {
        return KIND_NONE; /* glibc's, behind a tab */
    }
    if (!scan_char(s, ']')) return KIND_NONE;
    out->pc = out->value;
    out->by_maps = true;
    out->fill_at = out->fill_end = s->line.len;
    return KIND_FRAME;
}

static enum line_kind read_chromium_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct chromium_state *chromium = state;
    uint64_t number;
    (void)modules;
    if (scan_peek(&s) == '\t') return read_windows_frame(&s, out);
    scan_char(&s, ' ');
    if (!scan_char(&s, '#') || !scan_number(&s, 10, &number) || !scan_char(&s, ' ')) return KIND_NONE;
    if (!scan_hex(&s, &out->pc) || !scan_char(&s, ' ')) return KIND_NONE;
    out->value = out->pc;
    if (has_text_at(line, s.at, "in ")) return KIND_NONE; /* a sanitizer's */
    if (inlined_group_goes_on(&chromium->group, open && number, out->pc, scan_rest(&s))) return KIND_INSIDE;
    if (!find_module_part(&s, out) && scan_peek(&s) != '<' && scan_peek(&s) != '(') out->symbol = scan_rest(&s);
    out->by_maps = true;
    out->flags = CSN_STACK_EITHER;
    out->fill_at = out->fill_end = line.len;
    return number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect chromium_dialect = { .name = "chromium", .is_flush = true,
                                                .marks = { MARK_HASH | MARK_HEX, MARK_INDENT | MARK_MODULE | MARK_HEX },
                                                .state_size = sizeof(struct chromium_state), .read = read_chromium_line,
                                                .fill = fill_line_in_brackets };
