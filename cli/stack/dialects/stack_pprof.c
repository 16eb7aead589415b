/* Profiles that are text: of gperftools and jemalloc, and of Go's net/http/pprof with ?debug=1. A stack is one line.
 *
 *          1:     3000 [     1:     3000] @ 0x558850527157 0x7f9bf947113b         heaps: objects and bytes in use, and of all allocations
 *     1 @ 0x480d65 0x4d9c3d 0x484081                                              goroutines and threads
 *     #	0x480d64	time.Sleep+0x164	/usr/local/go/src/runtime/time.go:363    what Go knows of it
 *     @ 0x558850527157 0x7f9bf947113b                                             jemalloc
 *     tcmalloc: large alloc 1258299392 bytes == 0x55d2c2a3e000 @  0x7f2f3e1f5887 0x55d2c1a3e157
 *
 * All are return addresses. The mappings follow, below "MAPPED_LIBRARIES:". */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* Counts, or the sentence of tcmalloc. Blanks alone are another program's. */
static bool is_before_stack(struct csn_str text) {
    struct line_scan s = scan_on(text);
    size_t at, digits = 0;
    if (scan_find(&s, "tcmalloc: large alloc ", &at)) return true;
    for (size_t i = 0; i < text.len; i++) {
        if (!strchr("0123456789 :[].", text.ptr[i])) return false;
        digits += text.ptr[i] >= '0' && text.ptr[i] <= '9';
    }
    return digits || !text.len;
}

static bool read_pprof_frame(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    struct line_scan s = { line, from };
    (void)state;
    scan_blanks(&s);
    if (!scan_hex(&s, &out->value)) return false;
    out->pc = out->value;
    out->by_maps = true;
    out->flags = CSN_STACK_RETURN;
    out->fill_at = out->fill_end = s.at;
    scan_filled(&s);
    out->end = s.at;
    return true;
}

/* "@ 0x558850527157 0x7f9bf947113b": one address alone may be anything. */
static bool has_two_addresses(struct line_scan s) {
    uint64_t value;
    return scan_hex(&s, &value) && (scan_filled(&s), scan_blanks(&s)) && scan_hex(&s, &value);
}

static enum line_kind read_pprof_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t at;
    (void)modules;
    if (open && scan_text(&s, "#\t0x")) return KIND_INSIDE;
    if (!scan_find(&s, "@", &at) || !is_before_stack((struct csn_str){ line.ptr, at })) return KIND_NONE;
    s.at = at + 1;
    if (!scan_blanks(&s) || (!at && !has_two_addresses(s))) return KIND_NONE;
    return read_pprof_frame(state, line, s.at, out) ? KIND_FIRST : KIND_NONE;
}

const struct stack_dialect pprof_dialect = { .name = "pprof", .is_flush = true, .marks = { MARK_AT | MARK_HEX },
                                             .read = read_pprof_line, .more = read_pprof_frame, .fill = fill_line_in_brackets };
