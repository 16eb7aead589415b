/* What the failure handlers of glog, Abseil and folly write, and gperftools' heap checker.
 *
 *         @     0x7fe43b24013b parse_line                       glog
 *         @     0x7fe43b24013b         32  parse_line           Abseil: the frame's size
 *     PC: @     0x7fe43b24013b  (unknown)  parse_line           Abseil: interrupted there
 *         @ 00007fe43b24013b parse_line                         folly; files stand in the lines below
 *     	@ 7fe43b24013b parse_line                              gperftools' heap checker
 *
 * The name is that of the symbol, without an offset; "(unknown)" is none. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* folly's lines of a file or a module, below a frame. */
enum { FOLLY_INDENT = 20, FOLLY_DIGITS = 16, CHECKER_DIGITS = 6 };

static bool is_below_frame(struct csn_str line) {
    size_t blanks = 0;
    while (blanks < line.len && line.ptr[blanks] == ' ') blanks++;
    return blanks >= FOLLY_INDENT;
}

/* The frame's size, or that it is not known, which Abseil prints between two pairs of blanks. */
static void skip_frame_size(struct line_scan *s) {
    struct line_scan at = *s;
    uint64_t size;
    if (!scan_blanks(&at)) return;
    if (!scan_number(&at, 10, &size) && !scan_text(&at, "(unknown)")) return;
    size_t end = at.at;
    if (!scan_text(&at, "  ")) return;
    s->at = end;
}

static bool read_failure_pc(struct line_scan *s, uint64_t *out) {
    size_t from = s->at;
    if (scan_hex(s, out)) return true;
    const bool is_checker = s->line.ptr[0] == '\t';
    return scan_number(s, 16, out) && (s->at - from == FOLLY_DIGITS || (is_checker && s->at - from >= CHECKER_DIGITS));
}

static enum line_kind read_failure_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state, (void)modules;
    if (open && is_below_frame(line)) return KIND_INSIDE;
    bool interrupted = scan_text(&s, "PC:");
    if (!scan_blanks(&s) || !scan_char(&s, '@') || !scan_blanks(&s)) return KIND_NONE;
    if (!read_failure_pc(&s, &out->value)) return KIND_NONE;
    skip_frame_size(&s);
    if (!scan_blanks(&s) && !scan_at_end(&s)) return KIND_NONE;
    out->symbol = scan_rest(&s);
    if (out->symbol.len && out->symbol.ptr[0] == '(') out->symbol.len = 0;
    out->pc = out->value;
    out->by_maps = true;
    out->flags = interrupted ? CSN_STACK_EXACT : CSN_STACK_RETURN;
    out->fill_at = line.len;
    while (line.ptr[out->fill_at - 1] == ' ') out->fill_at--;
    out->fill_end = out->fill_at;
    return interrupted ? KIND_FIRST : KIND_FRAME;
}

const struct stack_dialect failure_dialect = { .name = "failure", .is_flush = true, .marks = { MARK_AT },
                                               .read = read_failure_line, .fill = fill_line_in_brackets };
