/* Stacks of the BSDs' kernels: in messages, and of ddb's `bt`.
 *
 *     #1 0xffffffff80bc1d3d at vpanic+0x17d                          FreeBSD's KDB
 *     vpanic() at vpanic+0x19e/frame 0xfffffe0075a5d640              FreeBSD's ddb
 *     panic(ffffffff81e3a2b2) at panic+0xbf                          OpenBSD's
 *     breakpoint() at netbsd:breakpoint+0x5                          NetBSD's
 *     vpanic() at panic+0x4c                                         FreeBSD's for arm64
 *              pc = 0xffffff8000154040  lr = 0xffffff800016aa20
 *     --- trap 0xc, rip = 0xffffffff80bc1d3d, rsp = 0xfffffe00, rbp = 0xfffffe01 ---     the next row was interrupted
 *
 * The kernel's index is `kernel`, `bsd` or `netbsd`, or any that was given and has the function. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

struct bsd_state {
    bool interrupted; /* the line before tells of a trap */
};

static bool is_name_end(char c) { return !c || c == ' ' || c == '/'; }

/* "netbsd:breakpoint+0x5" */
static bool read_function(struct line_scan *s, struct line_frame *out) {
    size_t end = s->at, colon;
    while (end < s->line.len && s->line.ptr[end] != ' ' && s->line.ptr[end] != '+') end++;
    struct line_scan offset = { s->line, end };
    out->symbol = (struct csn_str){ s->line.ptr + s->at, end - s->at };
    if (!scan_char(&offset, '+') || !scan_hex(&offset, &out->value) || !is_name_end(scan_peek(&offset))) return false;
    struct line_scan name = scan_on(out->symbol);
    if (scan_find(&name, ":", &colon) && colon && name.line.ptr[colon + 1] != ':') {
        out->module = (struct csn_str){ name.line.ptr, colon };
        out->symbol = (struct csn_str){ name.line.ptr + colon + 1, name.line.len - colon - 1 };
    }
    out->fill_at = out->fill_end = offset.at;
    return out->symbol.len > 0;
}

/* "#1 0xffffffff80bc1d3d at vpanic+0x17d" */
static enum line_kind read_numbered(struct line_scan *s, struct line_frame *out) {
    if (!scan_number(s, 10, &out->number) || !scan_char(s, ' ') || !scan_hex(s, &out->pc) || !scan_text(s, " at "))
        return KIND_NONE;
    if (!read_function(s, out)) return KIND_NONE;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

/* "panic(ffffffff81e3a2b2) at panic+0xbf"; without arguments it may be any sentence. */
static enum line_kind read_ddb(struct line_scan *s, struct line_frame *out) {
    size_t at, open_at;
    if (!scan_find(s, ") at ", &at) || !scan_find(s, "(", &open_at) || !open_at || memchr(s->line.ptr, ' ', open_at))
        return KIND_NONE;
    s->at = at + 5;
    if (!read_function(s, out)) return KIND_NONE;
    return KIND_FRAME;
}

static enum line_kind read_bsd_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                    struct line_frame *out) {
    struct bsd_state *bsd = state;
    struct line_scan s = scan_on(line);
    (void)modules;
    if (open && scan_text(&s, "         pc = 0x")) return KIND_INSIDE;
    if (open && scan_text(&s, "         sp = 0x")) return KIND_INSIDE;
    if (open && scan_text(&s, "--- ")) {
        size_t at;
        bsd->interrupted = scan_find(&s, "trap", &at) || scan_find(&s, "interrupt", &at);
        return KIND_INSIDE;
    }
    out->site = SITE_SYMBOL;
    const enum line_kind kind = scan_char(&s, '#') ? read_numbered(&s, out) : read_ddb(&s, out);
    if (kind == KIND_NONE) return kind;
    /* Also the first one: the functions that print the stack are in it. */
    out->flags = (open && bsd->interrupted) || !out->value ? CSN_STACK_EXACT : CSN_STACK_RETURN;
    bsd->interrupted = false;
    return kind;
}

const struct stack_dialect bsd_dialect = { .name = "bsd", .is_flush = true, .marks = { MARK_OFFSET },
                                           .state_size = sizeof(struct bsd_state),
                                           .read = read_bsd_line, .fill = fill_line_in_brackets };
