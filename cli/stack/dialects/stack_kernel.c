/* Traces of the Linux kernel: a function's name, the offset in it and the bytes up to the next symbol.
 *
 *     [   12.345678] RIP: 0010:do_thing+0x1a/0x50 [driver]
 *     [   12.345678]  ? do_thing+0x1a/0x50 [driver 0102...]      found on the stack, perhaps no caller
 *     [   12.345678]  [<ffffffff81001139>] do_thing+0x1a/0x50    older kernels */
#include "stack/dialects/dialects.h"
#include "stack/dialects/line_scan.h"
#include "stack/stack_fill.h"

static void skip_time(struct line_scan *s) {
    size_t from = s->at;
    uint64_t number;
    /* "<4>" of a raw log, "[   12.345678]", "[  T123]" */
    if (scan_char(s, '<') && scan_number(s, 10, &number) && scan_char(s, '>')) from = s->at;
    s->at = from;
    if (scan_char(s, '[')) {
        scan_blanks(s);
        if (scan_number(s, 10, &number) && scan_char(s, '.') && scan_number(s, 10, &number) && scan_char(s, ']'))
            from = s->at;
        s->at = from;
    }
    scan_blanks(s);
    from = s->at;
    if (scan_char(s, '[')) {
        scan_blanks(s);
        if ((scan_char(s, 'T') || scan_char(s, 'C')) && scan_number(s, 10, &number) && scan_char(s, ']')) from = s->at;
        s->at = from;
    }
    scan_blanks(s);
}

/* "do_thing+0x1a/0x50" */
static bool read_symbol(struct line_scan *s, struct line_frame *out) {
    struct csn_str word;
    size_t plus, from = s->at;
    if (!scan_word(s, &word)) return false;
    size_t end = s->at;
    struct line_scan part = { { s->line.ptr, end }, from };
    if (!scan_find_last(&part, '+', &plus) || plus == from) return false;
    part.at = plus + 1;
    if (!scan_hex(&part, &out->value) || !scan_char(&part, '/') || !scan_hex(&part, &out->symbol_size)) return false;
    if (!scan_at_end(&part) || out->value > out->symbol_size) return false;
    out->symbol = (struct csn_str){ s->line.ptr + from, plus - from };
    return true;
}

static enum line_kind read_kernel_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    static const char kernel[] = "vmlinux";
    struct line_scan s = scan_on(line);
    uint64_t number;
    (void)state, (void)modules;
    skip_time(&s);
    bool exact = false;
    if (scan_text(&s, "RIP: ") || scan_text(&s, "RSP: ")) {
        exact = scan_number(&s, 16, &number) && scan_char(&s, ':');
        if (!exact) return KIND_NONE;
    } else if (scan_text(&s, "pc : ") || scan_text(&s, "PC is at ") || scan_text(&s, "EIP: ")) {
        exact = true;
    } else if (scan_text(&s, "Call Trace:") || scan_text(&s, "Call trace:") || scan_text(&s, "<TASK>")
               || scan_text(&s, "</TASK>") || scan_text(&s, "<IRQ>") || scan_text(&s, "</IRQ>")) {
        return open ? KIND_INSIDE : KIND_NONE;
    }
    if (scan_text(&s, "[<")) {
        if (!scan_number(&s, 16, &out->pc) || !scan_text(&s, ">]")) return KIND_NONE;
        scan_blanks(&s);
    }
    bool unsure = scan_text(&s, "? ");
    if (!read_symbol(&s, out)) return KIND_NONE;
    out->fill_at = out->fill_end = s.at;
    out->module = (struct csn_str){ kernel, sizeof(kernel) - 1 };
    scan_blanks(&s);
    if (scan_char(&s, '[')) {
        size_t from = s.at;
        while (!scan_at_end(&s) && scan_peek(&s) != ']' && scan_peek(&s) != ' ') s.at++;
        out->module = (struct csn_str){ line.ptr + from, s.at - from };
        if (scan_char(&s, ' ')) {
            from = s.at;
            while (!scan_at_end(&s) && scan_peek(&s) != ']') s.at++;
            build_id_parse((struct csn_str){ line.ptr + from, s.at - from }, &out->id);
        }
        if (!scan_char(&s, ']')) return KIND_NONE;
    }
    scan_blanks(&s);
    if (!scan_at_end(&s) || !out->module.len) return KIND_NONE;
    out->site = SITE_SYMBOL;
    /* What was only found on the stack called nobody for certain. */
    out->flags = exact || unsure ? CSN_STACK_EXACT : CSN_STACK_RETURN;
    return exact ? KIND_FIRST : KIND_FRAME;
}

/* " (kernel/sched.c:12, inlined into kernel/core.c:40)" behind the offset. */
static void fill_kernel(struct line_filler *f) {
    bool open = false;
    fill_part(f, 0, f->at->fill_at);
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        if (!fill_has_file(f, k)) continue;
        out_text(f->out, open ? ", inlined into " : " (");
        fill_file(f, k, false);
        open = true;
    }
    if (open) out_char(f->out, ')');
    fill_part(f, f->at->fill_at, f->text.len);
    fill_ending(f);
}

const struct stack_dialect kernel_dialect = { .name = "kernel", .read = read_kernel_line, .fill = fill_kernel };
