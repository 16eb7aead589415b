/* The backtrace of ESP-IDF's panic handler for Xtensa: pairs of an address and a stack pointer on one line.
 *
 *     Backtrace: 0x400ebc34:0x3ffb1f10 0x400d2778:0x3ffb1f40 |<-CORRUPTED
 *
 * The addresses are those of the one image on the chip; of callers, within the call. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

static bool read_pair(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    struct line_scan s = { line, from };
    uint64_t stack;
    (void)state;
    scan_blanks(&s);
    out->flags = CSN_STACK_BEFORE;
    out->fill_at = s.at;
    if (!scan_hex(&s, &out->value) || !scan_char(&s, ':') || !scan_hex(&s, &stack)) return false;
    out->pc = out->value;
    out->fill_at = out->fill_end = s.at;
    scan_filled(&s);
    out->end = s.at;
    return true;
}

static enum line_kind read_esp_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                    struct line_frame *out) {
    static const char title[] = "Backtrace:";
    struct line_scan s = scan_on(line);
    (void)modules, (void)open;
    scan_blanks(&s);
    if (!scan_text(&s, title) || !read_pair(state, line, s.at, out)) return KIND_NONE;
    out->flags = CSN_STACK_EXACT;
    return KIND_FIRST;
}

const struct stack_dialect esp_dialect = {
    .name = "esp-idf", .marks = { MARK_EVENT | MARK_HEX }, .read = read_esp_line, .more = read_pair, .fill = fill_line_in_brackets
};
