/* Traces of the Linux kernel: a function's name, the offset in it and the bytes up to the next symbol.
 *
 *     [   12.345678] RIP: 0010:do_thing+0x1a/0x50 [driver]
 *     [   12.345678]  ? do_thing+0x1a/0x50 [driver 0102...]      found on the stack, perhaps no caller
 *     [   12.345678]  [<ffffffff81001139>] do_thing+0x1a/0x50    older kernels
 *     [   12.345678] lr : do_thing+0x1a/0x50                     arm64: where the interrupted function returns to, perhaps
 *     [   12.345678] BUG: KASAN: slab-out-of-bounds in do_thing+0x1a/0x50 [driver]
 *     [   12.345678] WARNING: CPU: 0 PID: 42 at drivers/driver.c:12 do_thing+0x1a/0x50 [driver]
 *     [   12.345678]  do_thing+0x1a/0x50 (P)                     arm64: P interrupted there, L perhaps returns there
 *
 * The functions of return addresses are those of the byte before (%pB): the offset may be the function's size. */
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

/* " (P)": where the arm64 unwinder has the address from. Letters of which nothing follows are passed over. */
static bool read_source(struct line_scan *s, bool *exact, bool *unreliable) {
    if (!scan_char(s, '(')) return true;
    for (; strchr("CFKLPTU", scan_peek(s)) && !scan_at_end(s); s->at++) {
        if (scan_peek(s) == 'P') *exact = true;
        if (scan_peek(s) == 'L') *unreliable = true;
    }
    return scan_char(s, ')');
}

/* "[driver]" or "[driver 0102...]" */
static bool read_kernel_module(struct line_scan *s, struct line_frame *out) {
    static const char kernel[] = "vmlinux";
    out->module = (struct csn_str){ kernel, sizeof(kernel) - 1 };
    out->is_unnamed = !scan_char(s, '[');
    if (out->is_unnamed) return true;
    size_t from = s->at;
    while (!scan_at_end(s) && scan_peek(s) != ']' && scan_peek(s) != ' ') s->at++;
    out->module = (struct csn_str){ s->line.ptr + from, s->at - from };
    if (scan_char(s, ' ')) {
        from = s->at;
        while (!scan_at_end(s) && scan_peek(s) != ']') s->at++;
        build_id_parse((struct csn_str){ s->line.ptr + from, s->at - from }, &out->id);
    }
    return out->module.len && scan_char(s, ']');
}

/* "BUG: KASAN: slab-out-of-bounds in " and "WARNING: CPU: 0 PID: 42 at drivers/driver.c:12 ": a function follows. */
static bool skip_report_title(struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str file;
    size_t found;
    if (scan_text(&at, "BUG: ") && scan_find(&at, " in ", &found)) {
        s->at = found + 4;
        return true;
    }
    at = *s;
    if (!scan_text(&at, "WARNING: ") || !scan_find(&at, " at ", &found)) return false;
    at.at = found + 4;
    if (!scan_word(&at, &file) || !scan_blanks(&at)) return false;
    *s = at;
    return true;
}

/* Registers that hold a pc or a return address, and "?". False: the line is no frame. */
static bool read_register(struct line_scan *s, bool *exact, bool *unreliable) {
    uint64_t segment;
    if (scan_text(s, "RIP: ") || scan_text(s, "RSP: ")) return *exact = scan_number(s, 16, &segment) && scan_char(s, ':');
    if (skip_report_title(s)) *exact = true;
    else if (scan_text(s, "pc : ") || scan_text(s, "epc : ") || scan_text(s, "PC is at ") || scan_text(s, "EIP: ")) *exact = true;
    else if (scan_text(s, "lr : ") || scan_text(s, "ra : ") || scan_text(s, "LR is at ")) *unreliable = true;
    return true;
}

static bool is_trace_mark(const struct line_scan *s) {
    static const char *const marks[] = { "Call Trace:", "Call trace:", "<TASK>", "</TASK>", "<IRQ>", "</IRQ>" };
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct line_scan at = *s;
        if (scan_text(&at, marks[i])) return true;
    }
    return false;
}

static enum line_kind read_kernel_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    struct line_scan s = scan_on(line);
    bool exact = false, unreliable = false;
    (void)state, (void)modules;
    skip_time(&s);
    if (is_trace_mark(&s)) return open ? KIND_INSIDE : KIND_NONE;
    if (!read_register(&s, &exact, &unreliable)) return KIND_NONE;
    bool first = exact;
    if (scan_text(&s, "[<")) {
        if (!scan_number(&s, 16, &out->pc) || !scan_text(&s, ">]")) return KIND_NONE;
        scan_blanks(&s);
    }
    unreliable |= scan_text(&s, "? ");
    if (!read_symbol(&s, out)) return KIND_NONE;
    out->fill_at = out->fill_end = s.at;
    scan_blanks(&s);
    if (!read_kernel_module(&s, out)) return KIND_NONE;
    scan_blanks(&s);
    if (!read_source(&s, &exact, &unreliable)) return KIND_NONE;
    scan_blanks(&s);
    if (!scan_at_end(&s)) return KIND_NONE;
    out->site = SITE_SYMBOL;
    /* The byte before a function's first one is another function's. */
    out->flags = exact || !out->value ? CSN_STACK_EXACT : CSN_STACK_RETURN;
    if (unreliable) out->flags |= CSN_STACK_UNRELIABLE;
    return first ? KIND_FIRST : KIND_FRAME;
}

/* " (kernel/sched.c:12, inlined into kernel/core.c:40)" after the offset. */
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

const struct stack_dialect kernel_dialect = { .name = "kernel", .marks = { MARK_PLUS | MARK_HEX }, .read = read_kernel_line, .fill = fill_kernel };
