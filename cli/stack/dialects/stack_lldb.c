/* The stacks of lldb's `bt`.
 *
 *     Current executable set to '/opt/app/orders' (x86_64).                         the program
 *     Process 4242 launched: '/opt/app/orders' (x86_64)
 *       * frame #0: 0x0000555555555040 orders`hidden.cold
 *         frame #1: 0x0000555555555165 orders`outer + 5
 *         frame #2: 0x0000555555555058 orders`___lldb_unnamed_symbol9 + 8           no symbol covers it
 *         frame #3: 0x00007ffff7df824a libc.so.6`start(main=(orders`main), argc=1) at start.h:58:16      complete
 *         frame #4: 0x0000555555555165 orders`outer [inlined] area(a=3) at orders.c:2:80                 the next frame's call
 *         frame #5: 0x0000555555555165 orders`outer at orders.c:9:5                                      complete, too
 *
 * Modules have no folder. lldb starts programs without address space randomization, as gdb does. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "ui/text_bytes.h"

static const uint64_t LLDB_BASE = 0x555555554000;

struct lldb_state {
    char program[256]; /* its path; empty: not known */
    uint64_t stopped;  /* the number of the innermost frame that is no inlined call: those before have its pc */
    uint64_t inlined_at, inlined_number; /* pc and number of the inlined call before; pc 0: there was none */
};

/* The path between quotes. */
static bool read_program(struct lldb_state *lldb, struct csn_str line) {
    struct line_scan s = scan_on(line);
    uint64_t pid;
    size_t close;
    if (!scan_text(&s, "Current executable set to '")) {
        if (!scan_text(&s, "Process ") || !scan_number(&s, 10, &pid) || !scan_text(&s, " launched: '")) return false;
    }
    if (!scan_find(&s, "'", &close) || close == s.at || close - s.at >= sizeof(lldb->program)) return false;
    memcpy(lldb->program, line.ptr + s.at, close - s.at);
    lldb->program[close - s.at] = 0;
    return true;
}

/* Where a function's name without an offset ends: "hidden.cold", "shop::price(int) const". What follows is a note. */
static size_t name_end(const struct line_scan *s) {
    struct line_scan at = *s;
    struct csn_str word;
    size_t open;
    if (!scan_find(&at, "(", &open)) return scan_word(&at, &word) ? at.at : s->line.len;
    for (at.at = open; scan_peek(&at) == '(' || (scan_find(&at, "(", &open) && !memchr(at.line.ptr + at.at, ' ', open - at.at)); )
        at.at = brackets_end(at.line, scan_peek(&at) == '(' ? at.at : open, '(', ')');
    scan_text(&at, " const");
    return at.at;
}

/* " + 5" behind the whole name, of which parameters are a part: "operator new(unsigned long) + 5". */
static bool find_offset(const struct line_scan *s, size_t *plus, struct line_scan *behind, uint64_t *out) {
    size_t depth = 0;
    for (size_t at = s->at; at < s->line.len; at++) {
        const char c = s->line.ptr[at];
        if (c == '(') depth++;
        if (c == ')' && depth) depth--;
        if (c != '+' || depth) continue;
        *plus = at - 1;
        *behind = (struct line_scan){ s->line, at - 1 };
        if (!scan_text(behind, " + ") || !(scan_hex(behind, out) || scan_number(behind, 10, out))) continue;
        if (scan_at_end(behind) || is_blank_char(scan_peek(behind)) || scan_peek(behind) == ',') return true;
    }
    return false;
}

/* "outer + 5", "shop::price(int) + 5", "main(argc=1) at orders.c:3:5", "outer at orders.c:9:5", "hidden.cold" */
static void read_lldb_function(struct line_scan *s, struct line_frame *out) {
    static const char unnamed[] = "___lldb_unnamed_symbol";
    size_t end = s->line.len, place = s->line.len, found, plus = 0;
    uint64_t offset;
    struct line_scan rest = *s, behind;
    scan_find(s, " at ", &place);
    if (scan_find(s, "(", &found)) end = found;
    if (place < end) end = place;
    const bool has_offset = find_offset(s, &plus, &behind, &offset) && plus < place;
    out->fill_end = has_offset ? behind.at : name_end(s);
    if (has_offset && plus < end) {
        end = plus;
        out->has_symbol_offset = true;
        out->symbol_offset = offset;
    }
    if (scan_text(&rest, unnamed)) out->has_symbol_offset = false;
    else out->symbol = (struct csn_str){ s->line.ptr + s->at, end - s->at };
}

/* "orders`outer + 5"; the program's own path is known, perhaps. */
static bool read_lldb_module(const struct lldb_state *lldb, struct line_scan *s, struct line_frame *out) {
    size_t tick;
    if (!scan_char(s, ' ') || !scan_find(s, "`", &tick) || tick == s->at) return false;
    out->module = (struct csn_str){ s->line.ptr + s->at, tick - s->at };
    struct csn_str program = { lldb->program, strlen(lldb->program) }, base = base_name_of(program);
    if (base.len == out->module.len && memcmp(base.ptr, out->module.ptr, base.len) == 0) out->module = program;
    s->at = tick + 1;
    out->fill_at = s->at;
    read_lldb_function(s, out);
    return true;
}

/* Whether the program stopped in the frame, or the frame called another one. */
static uint32_t read_lldb_flags(struct lldb_state *lldb, const struct line_frame *out, bool is_inlined) {
    if (!out->number) lldb->stopped = 0;
    if (out->number != lldb->stopped) return CSN_STACK_RETURN;
    if (is_inlined) lldb->stopped++;
    return CSN_STACK_EXACT;
}

/* The line of a function comes after those of the calls that were inlined there, which have its address: what lldb, or an earlier
 * run, wrote of these stays, and they are not written again. */
static bool follows_inlined(struct lldb_state *lldb, const struct line_frame *out, bool is_inlined) {
    const bool follows = !is_inlined && lldb->inlined_at == out->value && lldb->inlined_number + 1 == out->number && out->value;
    if (follows) return true; /* kept: the line is read again if modules are searched for it */
    lldb->inlined_at = is_inlined ? out->value : 0;
    lldb->inlined_number = out->number;
    return false;
}

static enum line_kind read_lldb_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                     struct line_frame *out) {
    struct lldb_state *lldb = state;
    struct line_scan s = scan_on(line);
    size_t inlined;
    (void)modules;
    if (read_program(lldb, line)) return KIND_CONTEXT;
    scan_blanks(&s);
    if (scan_text(&s, "* ")) scan_blanks(&s);
    if (!scan_text(&s, "frame #")) return KIND_NONE;
    out->number_at = s.at;
    if (!scan_number(&s, 10, &out->number)) return KIND_NONE;
    out->number_end = s.at;
    if (!scan_text(&s, ": ") || !scan_hex(&s, &out->value) || !read_lldb_module(lldb, &s, out)) return KIND_NONE;
    bool is_inlined = scan_find(&s, " [inlined] ", &inlined);
    out->flags = read_lldb_flags(lldb, out, is_inlined);
    out->own_only = follows_inlined(lldb, out, is_inlined);
    if (is_inlined) return open && out->number ? KIND_INSIDE : KIND_NONE;
    out->pc = out->value;
    out->usual_base = LLDB_BASE;
    out->by_maps = true;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

/* lldb knew the source, with or without arguments: "outer at orders.c:9:5", "main(argc=1) at orders.c:3:5". Where it did not, it
 * prints an offset. */
static bool has_source(const struct line_filler *f) {
    struct line_scan s = { f->text, f->at->fill_at };
    size_t at;
    return scan_find(&s, " at ", &at);
}

static void fill_lldb_call(struct line_filler *f, uint32_t k, uint32_t own) {
    fill_name(f, own);
    if (k < own) {
        out_text(f->out, " [inlined] ");
        fill_name(f, k);
    }
    if (fill_has_file(f, k)) {
        out_text(f->out, " at ");
        fill_file(f, k, false);
    } else if (k == own) {
        out_text(f->out, " + ");
        out_decimal(f->out, f->answer->frames[own].offset);
    }
}

/* "hidden [inlined] square at orders.c:2"; each inlined call is a line of its own. What lldb knew stays. */
static void fill_lldb(struct line_filler *f) {
    const uint32_t own = f->answer->frame_count - 1;
    if (has_source(f)) {
        fill_numbered_line(f);
        return;
    }
    f->kept = f->at->own_only;
    for (uint32_t k = f->kept ? own : 0; k <= own; k++) {
        fill_numbered(f, f->kept ? 0 : k, f->at->fill_at);
        fill_lldb_call(f, k, own);
        fill_rest_of_line(f, k);
    }
}

const struct stack_dialect lldb_dialect = { .name = "lldb", .marks = { MARK_HEX | MARK_INDENT, MARK_EVENT },
                                            .state_size = sizeof(struct lldb_state),
                                            .read = read_lldb_line, .fill = fill_lldb };
