/* backward-cpp's traces; the outermost frame comes first.
 *
 *     #3    Object "/opt/app/orders", at 0x55afa5986460, in main
 *     #2    Source "/opt/app/liborders.c", line 21, in orders_load [0x7f8fe404c160]
 *              20: __attribute__((noinline)) int orders_load(const char *text) {
 *           >  21:     int count = parse_line(text);
 *     #1  | Source "/opt/app/liborders.c", line 16, in check
 *         |    14:     int quantity = 0;
 *           Source "/opt/app/liborders.c", line 9, in parse_line [0x7f8fe404c13a]
 *
 * Of callers it is the byte before the return. A line with a source has nothing to be filled in. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

struct backward_state {
    uint64_t number; /* of the last line that had one */
};

/* "Object "/opt/app/orders", at 0x55afa5986460, in main" */
static bool read_object(struct line_scan *s, struct line_frame *out) {
    size_t quote;
    if (!scan_text(s, "Object \"") || !scan_find(s, "\", at 0x", &quote)) return false;
    out->module = (struct csn_str){ s->line.ptr + s->at, quote - s->at };
    s->at = quote + 6;
    if (!scan_hex(s, &out->pc) || !scan_text(s, ", in")) return false;
    scan_blanks(s);
    out->symbol = scan_rest(s);
    if (out->symbol.len && out->symbol.ptr[0] == '(') out->symbol.len = 0; /* filled in before */
    return true;
}

/* "Source "/opt/app/liborders.c", line 21, in orders_load [0x7f8fe404c160]"; without an address it was inlined. */
static bool read_source(struct line_scan *s, struct line_frame *out) {
    size_t at;
    if (!scan_text(s, "Source \"") || !scan_find(s, "\", line ", &at)) return false;
    s->at = at;
    if (!scan_find(s, ", in ", &at)) return false;
    out->symbol = (struct csn_str){ s->line.ptr + at + 5, s->line.len - at - 5 };
    if (!scan_find(s, " [0x", &at)) return true;
    out->symbol.len = (size_t)(s->line.ptr + at - out->symbol.ptr);
    s->at = at + 2;
    return scan_hex(s, &out->pc) && scan_char(s, ']') && scan_at_end(s);
}

static enum line_kind finish_frame(struct csn_str line, uint64_t number, struct line_frame *out) {
    if (!out->pc) return KIND_INSIDE;
    out->value = out->pc;
    out->number = number;
    out->by_maps = true;
    out->flags = number ? CSN_STACK_BEFORE : CSN_STACK_EXACT;
    out->fill_at = out->fill_end = line.len;
    return KIND_FRAME;
}

static enum line_kind read_backward_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct backward_state *backward = state;
    struct line_scan s = scan_on(line);
    (void)modules;
    if (!scan_char(&s, '#')) {
        if (!open || !scan_blanks(&s)) return KIND_NONE;
        return read_source(&s, out) ? finish_frame(line, backward->number, out) : KIND_INSIDE;
    }
    if (!scan_number(&s, 10, &backward->number) || !scan_blanks(&s)) return KIND_NONE;
    if (scan_text(&s, "| ")) return read_source(&s, out) ? KIND_INSIDE : KIND_NONE;
    if (read_object(&s, out)) return finish_frame(line, backward->number, out);
    *out = (struct line_frame){ .site = SITE_PC };
    return read_source(&s, out) && out->pc ? finish_frame(line, backward->number, out) : KIND_NONE;
}

static void fill_backward(struct line_filler *f) {
    struct line_scan s = scan_on(f->text);
    size_t at;
    if (scan_find(&s, "Source \"", &at)) fill_nothing(f);
    else fill_line_in_brackets(f);
}

const struct stack_dialect backward_dialect = { .name = "backward", .is_flush = true, .marks = { MARK_HASH | MARK_HEX },
                                                .state_size = sizeof(struct backward_state), .read = read_backward_line,
                                                .fill = fill_backward };
