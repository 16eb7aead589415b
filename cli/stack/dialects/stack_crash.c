/* Apple's .crash reports, and what LLVM's tools print without a symbolizer, which looks alike.
 *
 *     0   MyApp       0x0000000104a2c1f4 0x104a28000 + 16884      the image's first byte, and the offset from there
 *     0   MyApp       0x0000000104a2c1f4 square + 24 (shapes.h:2) [inlined]   symbolicated already: a call inlined into the next line's
 *     1   MyApp       0x0000000104a2c1f4 area + 24 (shapes.c:6)
 *     0   MyApp       0x0000000104a2c1f4 MyApp + 16884            of backtrace_symbols(): the module's name, and the offset from its start
 *     5   MyApp       0x00007fbc2752f13b                          of LLVM's tools: no name is known
 *        0x104a28000 -        0x104a2ffff +MyApp arm64  <0102...> /path/MyApp        of "Binary Images:" */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

struct crash_state {
    uint64_t inlined_at; /* pc of the inlined calls that the lines before told; 0: none */
    bool first;          /* with them the stack began */
    bool ended;          /* the function's own line has been read; it is read again if modules are searched for it */
    uint64_t number;     /* of that line: a function that calls itself has its pc in other lines, too */
};

/* "MyApp + 16884" */
static bool read_module_offset(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    uint64_t offset;
    if (at.line.len - at.at < out->module.len || memcmp(at.line.ptr + at.at, out->module.ptr, out->module.len) != 0) return false;
    at.at += out->module.len;
    if (!scan_text(&at, " + ") || !scan_number(&at, 10, &offset) || !scan_at_end(&at)) return false;
    out->value = offset;
    return true;
}

/* "area + 24", alone or before " (shapes.c:6)": the name may place an image that nothing else places. */
static void read_name(const struct line_scan *s, struct line_frame *out) {
    size_t plus;
    if (!scan_find_last(s, '+', &plus) || plus < s->at + 2 || s->line.ptr[plus - 1] != ' ') return;
    struct line_scan offset = { s->line, plus + 1 };
    if (!scan_char(&offset, ' ') || !scan_number(&offset, 10, &out->symbol_offset)) return;
    if (!scan_at_end(&offset) && !scan_text(&offset, " (")) return;
    out->symbol = (struct csn_str){ s->line.ptr + s->at, plus - 1 - s->at };
    out->has_symbol_offset = true;
}

/* All of them fill addresses up with zeros, to 8 or 16 digits. A short number is none, or each line of a log that
 * has one is a frame. */
static bool read_address(struct line_scan *s, uint64_t *out) {
    enum { DIGITS_MIN = 8 };
    size_t from = s->at;
    return scan_hex(s, out) && s->at - from >= DIGITS_MIN + 2;
}

static enum line_kind read_frame(struct line_scan *s, struct line_frame *out) {
    uint64_t number, start;
    if (!scan_number(s, 10, &number) || !scan_blanks(s)) return KIND_NONE;
    size_t from = s->at, at = s->line.len, tab = s->line.len;
    /* A name may have blanks: it ends at the address. */
    scan_find(s, " 0x", &at);
    scan_find(s, "\t0x", &tab);
    if (tab < at) at = tab;
    if (at == s->line.len) return KIND_NONE;
    out->module = (struct csn_str){ s->line.ptr + from, at - from };
    while (out->module.len && strchr(" \t", out->module.ptr[out->module.len - 1])) out->module.len--;
    s->at = at + 1;
    if (!out->module.len || !read_address(s, &out->pc) || (!scan_blanks(s) && !scan_at_end(s))) return KIND_NONE;
    out->fill_at = s->at;
    out->fill_end = s->line.len;
    out->value = out->pc;
    if (scan_hex(s, &start) && scan_text(s, " + ") && scan_number(s, 10, &out->value)) out->site = SITE_OFFSET;
    else out->site = read_module_offset(s, out) ? SITE_OFFSET : SITE_PC;
    if (out->site == SITE_PC) read_name(s, out);
    out->number = number;
    if (number) out->flags = CSN_STACK_RETURN; /* also if the lines before it are missing */
    return number ? KIND_FRAME : KIND_FIRST;
}

/* After the stacks, but before those of a report that follows. */
static enum line_kind read_image(struct stack_modules *modules, struct line_scan *s) {
    uint64_t start, end;
    struct csn_str word;
    struct module_names names = { .name = { "", 0 } };
    size_t open, close, slash;
    if (!scan_hex(s, &start) || !scan_blanks(s) || !scan_char(s, '-')) return KIND_NONE;
    scan_blanks(s);
    if (!scan_hex(s, &end) || end < start || !scan_blanks(s) || !scan_word(s, &word)) return KIND_NONE;
    if (!scan_find(s, "<", &open) || !scan_find(s, ">", &close) || close < open) return KIND_NONE;
    build_id_parse((struct csn_str){ s->line.ptr + open + 1, close - open - 1 }, &names.id);
    s->at = close;
    if (!scan_find(s, "/", &slash)) return KIND_NONE;
    names.name = (struct csn_str){ s->line.ptr + slash, s->line.len - slash };
    stack_modules_add_image(modules, &names, start, end + 1 ? end + 1 : end);
    return KIND_CONTEXT;
}

/* The function's own line comes after those of its inlined calls, has their address, and answers for all of them. */
static enum line_kind join_inlined(struct crash_state *crash, struct csn_str line, bool open, enum line_kind kind,
                                   struct line_frame *out) {
    if (kind == KIND_NONE) return kind;
    const struct crash_state before = *crash;
    const bool continued = before.inlined_at && before.inlined_at == out->pc && (!before.ended || before.number == out->number);
    const bool first = kind == KIND_FIRST || (continued && before.first);
    *crash = (struct crash_state){ 0 };
    if (ends_with(line, " [inlined]")) {
        *crash = (struct crash_state){ .inlined_at = out->pc, .first = first };
        return first ? KIND_CONTEXT : open ? KIND_INSIDE : KIND_NONE;
    }
    out->own_only = continued;
    if (continued) *crash = (struct crash_state){ out->pc, before.first, true, out->number };
    if (first) out->flags = 0;
    return first ? KIND_FIRST : kind;
}

static enum line_kind read_crash_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct line_scan s = scan_on(line);
    bool indented = scan_blanks(&s);
    if (indented && scan_peek(&s) == '0') return read_image(modules, &s);
    out->by_maps = true;
    return indented ? KIND_NONE : join_inlined(state, line, open, read_frame(&s, out), out);
}

/* "area + 24 (shapes.c:6)"; an inlined call is a line of its own. */
static void fill_crash(struct line_filler *f) {
    for (uint32_t k = f->at->own_only ? f->answer->frame_count - 1 : 0; k < f->answer->frame_count; k++) {
        fill_part(f, 0, f->at->fill_at);
        if (f->at->fill_at == f->text.len) out_char(f->out, ' ');
        fill_name(f, k);
        out_text(f->out, " + ");
        out_decimal(f->out, f->answer->frames[k].offset);
        if (fill_has_file(f, k)) {
            out_text(f->out, " (");
            fill_file(f, k, true);
            out_char(f->out, ')');
        }
        if (f->answer->frames[k].flags & CSN_FRAME_INLINED) out_text(f->out, " [inlined]");
        fill_ending(f);
    }
}

const struct stack_dialect crash_dialect = { .name = "crash", .is_flush = true, .marks = { MARK_NUMBER | MARK_HEX, MARK_START_HEX },
                                             .state_size = sizeof(struct crash_state), .read = read_crash_line,
                                             .fill = fill_crash };
