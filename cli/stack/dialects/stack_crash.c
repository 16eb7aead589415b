/* Apple's .crash reports, and what LLVM's tools print without a symbolizer, which looks alike.
 *
 *     0   MyApp       0x0000000104a2c1f4 0x104a28000 + 16884      the image's first byte, and the offset from there
 *     0   MyApp       0x104a2c1f4 0x104a28000 + 0x41f4	// area + 0x18    CrashReporter's, of iOS
 *     0   MyApp       0x0000000104a2c1f4 square + 24 (shapes.h:2) [inlined]   symbolicated already: a call inlined into the next line's
 *     1   MyApp       0x0000000104a2c1f4 area + 24 (shapes.c:6)
 *     0   MyApp       0x0000000104a2c1f4 MyApp + 16884            of backtrace_symbols(): the module's name, and the offset from its start
 *     5   MyApp       0x00007fbc2752f13b                          of LLVM's tools: no name is known
 *        0x104a28000 -        0x104a2ffff +MyApp arm64  <0102...> /path/MyApp        of "Binary Images:"; of iOS without blanks
 *                                                                                     before it */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"
#include "ui/text_bytes.h"

/* Lines of calls that were inlined stand before that of their function. */
struct inlined_lines {
    uint64_t inlined_at; /* pc of the inlined calls that the lines before told; 0: none */
    bool first;          /* with them the stack began */
    bool ended;          /* the function's own line has been read; it is read again if modules are searched for it */
    uint64_t number;     /* of that line: a function that calls itself has its pc in other lines, too */
};

struct crash_state {
    struct inlined_lines inlined;
    enum { NOTHING_READ, FRAMES_FIRST, IMAGES_FIRST } order; /* of the first report */
    bool has_images;     /* lines of a list came after the last frame */
};

/* What is no part of a frame's form stands behind a blank. */
static bool ends_word(const struct line_scan *s) { return scan_at_end(s) || is_blank_char(scan_peek(s)); }

/* " + 16884" or " + 0x41f4" */
static bool read_offset(struct line_scan *s, uint64_t *out) {
    struct line_scan at = *s;
    if (!scan_text(&at, " + ") || !(scan_hex(&at, out) || scan_number(&at, 10, out)) || !ends_word(&at)) return false;
    *s = at;
    return true;
}

/* "0x104a28000 + 16884" */
static bool read_image_offset(struct line_scan *s, struct line_frame *out) {
    uint64_t start;
    struct line_scan at = *s;
    if (!scan_hex(&at, &start) || !read_offset(&at, &out->value)) return false;
    *s = at;
    return true;
}

/* "MyApp + 16884" */
static bool read_module_offset(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    if (at.line.len - at.at < out->module.len || memcmp(at.line.ptr + at.at, out->module.ptr, out->module.len) != 0) return false;
    at.at += out->module.len;
    if (!read_offset(&at, &out->value)) return false;
    *s = at;
    return true;
}

/* " (in MyApp) (shapes.c:6)" */
static void skip_brackets(struct line_scan *s) {
    while (has_text_at(s->line, s->at, " (")) s->at = brackets_end(s->line, s->at + 1, '(', ')');
}

/* "area + 24", alone or before " (shapes.c:6)": the name may place an image that nothing else places. */
static bool read_name(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    while (scan_find(&at, " + ", &at.at)) {
        const size_t end = at.at;
        if (read_offset(&at, &out->symbol_offset) && end > s->at) {
            out->symbol = (struct csn_str){ s->line.ptr + s->at, end - s->at };
            out->has_symbol_offset = true;
            skip_brackets(&at);
            *s = at;
            return true;
        }
        at.at = end + 1;
    }
    return false;
}

/* What a name replaces ends at `s`, before what is no part of it. A function without an offset is one as "area (in MyApp)" is. */
static size_t end_of_parts(const struct line_scan *s, bool is_read) {
    if (is_read || scan_at_end(s)) return s->at;
    const struct line_scan place = *s;
    size_t open, end = s->at;
    if (scan_find(&place, " (", &open) && s->line.ptr[s->line.len - 1] == ')') return s->line.len;
    while (is_blank_char(s->line.ptr[end - 1])) end--;
    return end;
}

/* All of them fill addresses up with zeros, to 8 or 16 digits. A short number is none, or each line of a log that
 * has one is a frame. */
static bool read_address(struct line_scan *s, uint64_t *out) {
    enum { DIGITS_MIN = 8 };
    size_t from = s->at;
    return scan_hex(s, out) && s->at - from >= DIGITS_MIN + 2;
}

static enum line_kind read_frame(struct line_scan *s, struct line_frame *out) {
    uint64_t number;
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
    out->value = out->pc;
    out->site = read_image_offset(s, out) || read_module_offset(s, out) ? SITE_OFFSET : SITE_PC;
    const bool has_place = out->site == SITE_OFFSET || read_name(s, out);
    out->fill_end = end_of_parts(s, has_place);
    out->is_listed = true;
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
static enum line_kind join_inlined(struct inlined_lines *lines, struct csn_str line, bool open, enum line_kind kind,
                                   struct line_frame *out) {
    if (kind == KIND_NONE) return kind;
    const struct inlined_lines before = *lines;
    const bool continued = before.inlined_at && before.inlined_at == out->pc && (!before.ended || before.number == out->number);
    const bool first = kind == KIND_FIRST || (continued && before.first);
    *lines = (struct inlined_lines){ 0 };
    if (has_text_at(line, out->fill_end, " [inlined]")) {
        *lines = (struct inlined_lines){ .inlined_at = out->pc, .first = first };
        return first ? KIND_CONTEXT : open ? KIND_INSIDE : KIND_NONE;
    }
    out->own_only = continued;
    if (continued) *lines = (struct inlined_lines){ out->pc, before.first, true, out->number };
    if (first) out->flags = 0;
    return first ? KIND_FIRST : kind;
}

/* Reports follow each other, each with its own list behind its stacks: the one before tells nothing of the next report. */
static void note_images(struct crash_state *crash) {
    if (crash->order == NOTHING_READ) crash->order = IMAGES_FIRST;
    crash->has_images = true;
}

static void note_frame(struct crash_state *crash, struct stack_modules *modules) {
    if (crash->order == NOTHING_READ) crash->order = FRAMES_FIRST;
    if (crash->order == FRAMES_FIRST && crash->has_images) stack_modules_forget(modules);
    crash->has_images = false;
}

static enum line_kind read_crash_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct crash_state *crash = state;
    struct line_scan s = scan_on(line);
    bool indented = scan_blanks(&s);
    struct line_scan image = s;
    if (scan_peek(&s) == '0' && read_image(modules, &image) != KIND_NONE) {
        note_images(crash);
        return KIND_CONTEXT;
    }
    out->by_maps = true;
    const enum line_kind kind = indented ? KIND_NONE : join_inlined(&crash->inlined, line, open, read_frame(&s, out), out);
    if (kind != KIND_NONE) note_frame(crash, modules);
    return kind;
}

/* "area + 24 (shapes.c:6)"; an inlined call is a line of its own. */
static void fill_crash(struct line_filler *f) {
    for (uint32_t k = f->at->own_only ? f->answer->frame_count - 1 : 0; k < f->answer->frame_count; k++) {
        fill_part(f, 0, f->at->fill_at);
        if (!is_blank_char(f->text.ptr[f->at->fill_at - 1])) out_char(f->out, ' ');
        fill_name(f, k);
        out_text(f->out, " + ");
        out_decimal(f->out, f->answer->frames[k].offset);
        if (fill_has_file(f, k)) {
            out_text(f->out, " (");
            fill_file(f, k, true);
            out_char(f->out, ')');
        }
        if (f->answer->frames[k].flags & CSN_FRAME_INLINED) out_text(f->out, " [inlined]");
        fill_rest_of_line(f, k);
    }
}

const struct stack_dialect crash_dialect = { .name = "crash", .is_flush = true, .marks = { MARK_NUMBER | MARK_HEX, MARK_START_HEX },
                                             .state_size = sizeof(struct crash_state), .read = read_crash_line,
                                             .fill = fill_crash };
