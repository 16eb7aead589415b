/* Valgrind's reports.
 *
 *     ==26835==    at 0x10927B: ??? (in /opt/app/orders)
 *     ==26835==    by 0x485313A: check (liborders.c:9)                 an inlined call and the function it was inlined into:
 *     ==26835==    by 0x485313A: parse_line (liborders.c:16)           the same address
 *     ==26835==    by 0x4853160: orders_load (in /opt/app/liborders.so)
 *
 * Valgrind loads position independent programs at 0x108000. Addresses of callers are those of the byte before the
 * return address. */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "ui/text_bytes.h"

static const uint64_t VALGRIND_BASE = 0x108000;

struct valgrind_state {
    struct inlined_group group; /* of the line before; inlined calls repeat its address */
};

/* "==26835== " */
static bool skip_pid(struct line_scan *s, uint64_t *out) {
    if (!scan_text(s, "==")) return false;
    return scan_number(s, 10, out) && scan_text(s, "==") && scan_blanks(s);
}

/* "??? (in /opt/app/orders)": the module, and the name if there is one. */
static bool read_valgrind_module(struct line_scan *s, struct line_frame *out) {
    struct line_scan unknown = *s;
    size_t in;
    out->fill_at = s->at;
    out->fill_end = scan_text(&unknown, "???") ? unknown.at : s->line.len;
    if (!scan_find(s, " (in ", &in)) return false;
    const size_t end = brackets_end(s->line, in + 1, '(', ')');
    if (s->line.ptr[end - 1] != ')' || (end < s->line.len && !is_blank_char(s->line.ptr[end]))) return false;
    out->fill_end = end;
    if (s->line.ptr[s->at] != '?') out->symbol = (struct csn_str){ s->line.ptr + s->at, in - s->at };
    size_t from = in + strlen(" (in ");
    out->module = (struct csn_str){ s->line.ptr + from, end - 1 - from };
    return true;
}

static enum line_kind read_valgrind_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct valgrind_state *valgrind = state;
    uint64_t pid;
    (void)modules;
    if (!skip_pid(&s, &pid)) return KIND_NONE;
    bool first = scan_text(&s, "at ");
    if (!first && !scan_text(&s, "by ")) return KIND_NONE;
    if (!scan_hex(&s, &out->value) || !scan_text(&s, ": ") || scan_at_end(&s)) return KIND_NONE;
    if (inlined_group_goes_on(&valgrind->group, open && !first, out->value, scan_rest(&s))) return KIND_INSIDE;
    /* With a file it is complete; without either, Valgrind knows no module there. */
    if (!read_valgrind_module(&s, out) && line.ptr[out->fill_at] != '?') return open && !first ? KIND_INSIDE : KIND_NONE;
    out->pc = out->value;
    out->by_maps = true;
    out->usual_base = VALGRIND_BASE;
    out->flags = first ? CSN_STACK_EXACT : CSN_STACK_BEFORE;
    return first ? KIND_FIRST : KIND_FRAME;
}

/* "parse_line (liborders.c:16)"; an inlined call is a line of its own. */
static void fill_valgrind(struct line_filler *f) {
    if (fill_is_expanded(f, "")) {
        fill_nothing(f);
        return;
    }
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        fill_part(f, 0, f->at->fill_at);
        fill_name(f, k);
        if (fill_has_file(f, k)) {
            out_text(f->out, " (");
            fill_file(f, k, false);
            out_char(f->out, ')');
        } else if (f->at->module.len) {
            out_text(f->out, " (in ");
            out_bytes(f->out, f->at->module.ptr, f->at->module.len);
            out_char(f->out, ')');
        }
        fill_rest_of_line(f, k);
    }
}

const struct stack_dialect valgrind_dialect = { .name = "valgrind", .is_flush = true, .marks = { MARK_SIGN | MARK_HEX },
                                                .state_size = sizeof(struct valgrind_state), .read = read_valgrind_line,
                                                .fill = fill_valgrind };
