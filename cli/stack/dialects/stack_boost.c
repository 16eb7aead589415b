/* boost::stacktrace.
 *
 *      1# 0x00007F1CC16D313B in /opt/app/liborders.so
 *      2# orders_load in /opt/app/liborders.so                    the address is not printed
 *      3# main at orders.c:31 */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

static enum line_kind read_boost_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct line_scan s = scan_on(line);
    uint64_t number;
    (void)state, (void)modules;
    scan_blanks(&s);
    if (!scan_number(&s, 10, &number) || !scan_text(&s, "# ")) return KIND_NONE;
    out->fill_at = s.at;
    if (!scan_hex(&s, &out->value)) return open || !number ? KIND_INSIDE : KIND_NONE;
    out->fill_end = s.at;
    if (scan_text(&s, " in ")) out->module = scan_rest(&s);
    else if (!scan_at_end(&s)) return KIND_NONE;
    out->pc = out->value;
    out->by_maps = true;
    out->flags = CSN_STACK_RETURN;
    return number ? KIND_FRAME : KIND_FIRST;
}

/* " 1# check at liborders.c:9" and the next line for the function it was inlined into, as Boost writes them. */
static void fill_boost(struct line_filler *f) {
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        fill_part(f, 0, f->at->fill_at);
        fill_name(f, k);
        if (fill_has_file(f, k)) {
            out_text(f->out, " at ");
            fill_file(f, k, false);
        } else {
            fill_part(f, f->at->fill_end, f->text.len);
        }
        if (f->answer->frames[k].flags & CSN_FRAME_INLINED) out_text(f->out, " (inlined)");
        fill_ending(f);
    }
}

const struct stack_dialect boost_dialect = {
    .name = "boost", .marks = { MARK_NUMBER }, .read = read_boost_line, .fill = fill_boost
};
