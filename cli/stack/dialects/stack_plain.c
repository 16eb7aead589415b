/* Plain stacks: a frame a line, and the mappings of a process before them.
 *
 *     app+0x1139            from the module's first byte, as a sanitizer counts
 *     #1 0x55d000001139     of the process
 *     10001139              of the image, alone on its line: only if exactly one index is given, and has a function there
 *     55d000000000-55d000002000 r-xp 00001000 08:01 1234 /path/app      as /proc/PID/maps has it */
#include "stack/dialects/dialects.h"
#include "stack/lines/frame_numbers.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

/* "#1 ", "1: " or nothing; false where the line is something else. */
static bool read_number(struct line_scan *s, uint64_t *out, bool *given) {
    size_t from = s->at;
    *given = false;
    bool hash = scan_char(s, '#');
    if (scan_number(s, 10, out) && (scan_char(s, ':') || hash) && scan_blanks(s)) *given = true;
    else s->at = from;
    return *given || !hash;
}

/* " 1159 ": what perf script prints before a chain if only the thread was asked for, in five columns, or seven since Linux 6.4. */
static bool is_perf_thread(const struct stack_modules *modules, struct csn_str line) {
    size_t blanks = 0, at;
    while (blanks < line.len && line.ptr[blanks] == ' ') blanks++;
    for (at = blanks; at < line.len && scan_digit_value(line.ptr[at]) < 10; at++) continue;
    return at == line.len && modules->ends_in_blank && (line.len == 5 || (line.len == 7 && blanks));
}

/* "10001139" */
static bool read_bare_address(struct stack_modules *modules, struct csn_str line, struct line_frame *out) {
    enum { DIGITS_MIN = 4 };
    struct line_scan s = scan_on(line);
    scan_blanks(&s);
    size_t from = s.at;
    if (!scan_number(&s, 16, &out->value) || s.at - from < DIGITS_MIN || is_perf_thread(modules, line)) return false;
    scan_blanks(&s);
    out->site = SITE_PC;
    out->pc = out->value;
    out->by_maps = true;
    out->fill_at = out->fill_end = line.len;
    return scan_at_end(&s) && stack_place_is_alone(modules->session, out->value, 0);
}

static enum line_kind read_plain_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct line_scan s = scan_on(line);
    uint64_t number = 0;
    bool numbered;
    (void)open;
    scan_blanks(&s);
    if (stack_modules_add_maps_line(modules, scan_rest(&s))) return KIND_CONTEXT;
    if (read_bare_address(modules, line, out)) return KIND_FRAME;
    *out = (struct line_frame){ .site = SITE_PC };
    if (!read_number(&s, &number, &numbered)) return KIND_NONE;
    if (scan_hex(&s, &out->value)) {
        out->site = SITE_PC;
        out->pc = out->value;
    } else {
        struct csn_str word;
        size_t plus, from = s.at;
        if (!scan_word(&s, &word)) return KIND_NONE;
        struct line_scan part = { { line.ptr, s.at }, from };
        if (!scan_find_last(&part, '+', &plus) || plus == from) return KIND_NONE;
        part.at = plus + 1;
        if (!scan_hex(&part, &out->value) || !scan_at_end(&part)) return KIND_NONE;
        out->module = (struct csn_str){ line.ptr + from, plus - from };
        out->site = SITE_LESS_BIAS;
    }
    scan_blanks(&s);
    if (!scan_at_end(&s)) return KIND_NONE;
    out->fill_at = out->fill_end = line.len;
    out->by_maps = true;
    if (numbered) out->flags = frame_numbers_flags(state, number);
    return numbered && !number ? KIND_FIRST : KIND_FRAME;
}

const struct stack_dialect plain_dialect = {
    .name = "plain", .marks = { MARK_END_HEX, MARK_ADDRESS }, .state_size = sizeof(struct frame_numbers), .read = read_plain_line,
    .fill = fill_behind_line
};
