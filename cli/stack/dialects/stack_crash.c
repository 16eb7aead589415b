/* Apple's .crash reports, and what LLVM's tools print without a symbolizer, which looks alike.
 *
 *     0   MyApp       0x0000000104a2c1f4 0x104a28000 + 16884      the image's first byte, and the offset from there
 *     0   MyApp       0x104a2c1f4 0x104a28000 + 0x41f4	// area + 0x18    CrashReporter's, of iOS
 *     0   MyApp       0x0000000104a2c1f4 square + 24 (shapes.h:2) [inlined]   symbolicated already: a call inlined into the next line's
 *     1   MyApp       0x0000000104a2c1f4 area + 24 (shapes.c:6)
 *     0   MyApp       0x0000000104a2c1f4 0x104a28000 + 16884 (area + 24)      KSCrash's
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
    enum { NOTHING_READ, FRAMES_FIRST, IMAGES_FIRST } order; /* of the first report; or its head came first */
    uint64_t indented;   /* 1 + the number of the last line that had blanks before it: it is read again without them */
    bool has_images;     /* of the report that is read, lines of its list were there */
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

/* " (...)", of which `mark` and a decimal number, or '?', are the end. */
static bool skip_bracket(struct line_scan *s, const char *mark) {
    if (!has_text_at(s->line, s->at, " (")) return false;
    const size_t end = brackets_end(s->line, s->at + 1, '(', ')');
    struct line_scan at = { { s->line.ptr, end }, s->at + 2 };
    uint64_t number;
    for (; scan_find(&at, mark, &at.at); at.at++) {
        struct line_scan digits = { at.line, at.at + strlen(mark) };
        if (!scan_number(&digits, 10, &number) && !scan_char(&digits, '?')) continue;
        if (!scan_char(&digits, ')') || !scan_at_end(&digits)) continue;
        s->at = end;
        return true;
    }
    return false;
}

/* " (in MyApp) (shapes.c:6)". Any other bracket may be somebody's note, which stays. */
static void skip_place(struct line_scan *s) {
    if (has_text_at(s->line, s->at, " (in ")) s->at = brackets_end(s->line, s->at + 1, '(', ')');
    skip_bracket(s, ":");
}

/* "0x104a28000 + 16884" or "MyApp + 16884", and what is known already: " (area + 24)", " (shapes.c:6)". */
static bool read_site(struct line_scan *s, struct line_frame *out) {
    if (!read_image_offset(s, out) && !read_module_offset(s, out)) return false;
    skip_bracket(s, " + ");
    skip_place(s);
    return true;
}

/* "area + 24", alone or before " (shapes.c:6)": the name may place an image that nothing else places. */
static bool read_name(struct line_scan *s, struct line_frame *out) {
    struct line_scan at = *s;
    while (scan_find(&at, " + ", &at.at)) {
        const size_t end = at.at;
        if (read_offset(&at, &out->symbol_offset) && end > s->at) {
            out->symbol = (struct csn_str){ s->line.ptr + s->at, end - s->at };
            out->has_symbol_offset = true;
            skip_place(&at);
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
    out->site = read_site(s, out) ? SITE_OFFSET : SITE_PC;
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

/* Whether a report begins with the line; of one without a head it is that of the first thread, if a list came before. */
static bool begins_report(struct csn_str line, bool behind_list) {
    struct line_scan s = scan_on(line);
    size_t state;
    scan_blanks(&s);
    if (scan_text(&s, "Process:") || scan_text(&s, "Incident Identifier:")) return true;
    if (!behind_list || !scan_text(&s, "Thread 0") || !(scan_peek(&s) == ' ' || scan_peek(&s) == ':')) return false;
    return !scan_find(&s, " State", &state); /* of its registers */
}

bool crash_ends_list(struct csn_str line, bool behind_list) {
    struct line_frame frame = { .site = SITE_PC };
    struct line_scan s = scan_on(line);
    scan_blanks(&s);
    return begins_report(line, behind_list) || (behind_list && read_frame(&s, &frame) == KIND_FIRST);
}

/* Reports follow each other, each with its own list behind its stacks, or between them: the one before tells nothing of the next
 * report. */
static void forget_images(struct crash_state *crash, struct stack_modules *modules) {
    if (crash->order == NOTHING_READ) crash->order = FRAMES_FIRST;
    if (crash->order == FRAMES_FIRST && crash->has_images) stack_modules_forget(modules);
    crash->has_images = false;
}

/* The list has the module of the frame elsewhere: it is that of another process. */
static bool is_elsewhere(const struct stack_modules *modules, const struct line_frame *frame) {
    struct csn_process_module found;
    if (csn_process_maps_find_named(modules->maps, 0, frame->module, &found) != CSN_OK) return false;
    return frame->pc < found.start || frame->pc >= found.end;
}

static void note_images(struct crash_state *crash) {
    if (crash->order == NOTHING_READ) crash->order = IMAGES_FIRST;
    crash->has_images = true;
}

static void note_frame(struct crash_state *crash, struct stack_modules *modules, const struct line_frame *frame) {
    if (crash->order == NOTHING_READ) crash->order = FRAMES_FIRST;
    if (crash->has_images && !frame->number && is_elsewhere(modules, frame)) forget_images(crash, modules);
}

/* Behind blanks a row of any table looks like a frame: it has to name the image's first byte, or begin a stack with all that such a
 * line has. */
static bool may_begin_behind_blanks(struct csn_str line, const struct line_frame *frame) {
    enum { FULL_DIGITS = 16 };
    size_t end = frame->fill_at;
    if (frame->site == SITE_OFFSET && has_text_at(line, end, "0x")) return true;
    while (is_blank_char(line.ptr[end - 1])) end--;
    const bool is_full = end > FULL_DIGITS + 2 && has_text_at(line, end - FULL_DIGITS - 2, "0x");
    return !frame->number && is_full && (frame->site == SITE_OFFSET || frame->has_symbol_offset);
}

static enum line_kind read_crash_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct crash_state *crash = state;
    struct line_scan s = scan_on(line);
    const bool indented = scan_blanks(&s);
    struct line_scan image = s;
    if (begins_report(line, crash->has_images)) forget_images(crash, modules);
    if (scan_peek(&s) == '0' && read_image(modules, &image) != KIND_NONE) {
        note_images(crash);
        return KIND_CONTEXT;
    }
    out->by_maps = true;
    if (indented) crash->indented = modules->line + 1;
    enum line_kind kind = indented ? KIND_NONE : read_frame(&s, out);
    const bool goes_on = open || (crash->inlined.inlined_at && crash->inlined.inlined_at == out->pc);
    const bool is_behind_blanks = crash->indented == modules->line + 1 && !goes_on;
    if (kind != KIND_NONE && is_behind_blanks && !may_begin_behind_blanks(line, out)) return KIND_NONE;
    kind = join_inlined(&crash->inlined, line, open, kind, out);
    if (kind != KIND_NONE) note_frame(crash, modules, out);
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

const struct stack_dialect crash_dialect = { .name = "crash", .is_flush = true,
                                             .marks = { MARK_NUMBER | MARK_HEX, MARK_START_HEX, MARK_EVENT },
                                             .state_size = sizeof(struct crash_state), .read = read_crash_line,
                                             .ends_list = crash_ends_list, .fill = fill_crash };
