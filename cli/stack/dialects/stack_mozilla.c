/* Stacks that Firefox and other programs of Mozilla print.
 *
 *     #01: ???[./firefox +0x1234]
 *     #02: orders_load[/opt/app/liborders.so +0x1161]
 *
 * Offsets count from the module's first byte. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

static enum line_kind read_mozilla_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t hash, plus, bracket;
    uint64_t number;
    (void)state, (void)modules, (void)open;
    /* A process's name and number may stand before it. */
    if (!scan_find(&s, "#", &hash)) return KIND_NONE;
    s.at = hash + 1;
    if (!scan_number(&s, 10, &number) || !scan_text(&s, ": ")) return KIND_NONE;
    out->fill_at = s.at;
    if (line.ptr[line.len - 1] != ']' || !scan_find_last(&s, '+', &plus) || plus < s.at + 2) return KIND_NONE;
    struct line_scan offset = { line, plus + 1 };
    if (line.ptr[plus - 1] != ' ' || !scan_hex(&offset, &out->value) || offset.at + 1 != line.len) return KIND_NONE;
    struct line_scan before = { { line.ptr, plus - 1 }, s.at };
    if (!scan_find_last(&before, '[', &bracket)) return KIND_NONE;
    out->module = (struct csn_str){ line.ptr + bracket + 1, plus - 1 - bracket - 1 };
    out->site = SITE_OFFSET;
    out->flags = CSN_STACK_EITHER;
    out->fill_end = line.len;
    return out->module.len ? KIND_FRAME : KIND_NONE;
}

/* "#01: main (orders.c:12)", as Mozilla's fix-stacks writes them; an inlined call is a line of its own with the same number. */
static void fill_mozilla(struct line_filler *f) {
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        fill_part(f, 0, f->at->fill_at);
        fill_name(f, k);
        out_text(f->out, " (");
        if (fill_has_file(f, k)) fill_file(f, k, false);
        else out_bytes(f->out, f->at->module.ptr, f->at->module.len);
        out_char(f->out, ')');
        fill_ending(f);
    }
}

const struct stack_dialect mozilla_dialect = { .name = "mozilla", .marks = { MARK_OFFSET },
                                               .read = read_mozilla_line, .fill = fill_mozilla };
