/* The stacks of gdb's `bt`, and of lldb's where they are the same.
 *
 *     #1  0x00007ffff7fbc13b in ?? () from /opt/app/liborders.so
 *     #2  0x00007ffff7fbc161 in orders_load () from /opt/app/liborders.so
 *     #3  0x0000555555555461 in ?? ()                                the program itself
 *     #4  parse_line (line=0x555555556055 "5 boxes") at liborders.c:16   an inlined call: no address
 *           Start Addr           End Addr       Size     Offset  Perms  objfile          of `info proc mappings`
 *       0x7ffff7fbc000     0x7ffff7fbd000     0x1000     0x1000  r-xp   /opt/app/liborders.so
 *
 * gdb starts programs without address space randomization: one that is position independent lies at 0x555555554000. */
#include "stack/dialects/dialects.h"
#include "stack/dialects/line_scan.h"
#include "stack/stack_fill.h"
#include "stack/stack_modules.h"

static const uint64_t GDB_BASE = 0x555555554000;

static bool read_mapping_number(struct line_scan *s, uint64_t *out) { return scan_hex(s, out) && scan_blanks(s); }

static enum line_kind read_gdb_mapping(struct stack_modules *modules, struct line_scan *s) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    uint64_t size;
    if (!read_mapping_number(s, &mapping.start) || !read_mapping_number(s, &mapping.end) || !read_mapping_number(s, &size)
        || !read_mapping_number(s, &mapping.file_off))
        return KIND_NONE;
    struct csn_str access;
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    if (scan_peek(s) != '/') { /* of older versions, which print no access */
        if (!scan_word(s, &access) || access.len < 3) return KIND_NONE;
        if (access.ptr[2] != 'x') mapping.flags = 0;
        scan_blanks(s);
    }
    mapping.path = scan_rest(s);
    if (scan_peek(s) != '/' || mapping.end - mapping.start != size) return KIND_NONE;
    stack_modules_add_mapping(modules, 0, &mapping);
    return KIND_CONTEXT;
}

/* "orders_load (text=0x1) at liborders.c:21" or "orders_load () from /opt/app/liborders.so" */
static void read_gdb_function(struct line_scan *s, struct line_frame *out) {
    size_t open, from;
    out->fill_at = s->at;
    out->fill_end = s->line.len;
    if (!scan_find(s, " (", &open)) return;
    if (s->line.ptr[s->at] != '?') out->symbol = (struct csn_str){ s->line.ptr + s->at, open - s->at };
    s->at = open;
    if (!scan_find(s, ") from ", &from)) return;
    s->at = from + strlen(") from ");
    out->module = scan_rest(s);
}

/* "0x000055555555527b in ?? ()": where the program stopped. */
static enum line_kind read_gdb_stop(struct line_scan *s, struct line_frame *out) {
    if (!scan_hex(s, &out->value) || !scan_text(s, " in ") || s->line.ptr[s->line.len - 1] != ')') return KIND_NONE;
    read_gdb_function(s, out);
    out->pc = out->value;
    out->usual_base = out->module.len ? 0 : GDB_BASE;
    out->by_maps = true;
    return KIND_FIRST;
}

static enum line_kind read_gdb_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                    struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state;
    if (!scan_char(&s, '#')) return scan_blanks(&s) ? read_gdb_mapping(modules, &s) : read_gdb_stop(&s, out);
    out->number_at = s.at;
    if (!scan_number(&s, 10, &out->number)) return KIND_NONE;
    out->number_end = s.at;
    if (!scan_blanks(&s)) return KIND_NONE;
    if (!scan_hex(&s, &out->value)) return open && out->number ? KIND_INSIDE : KIND_NONE;
    if (!scan_text(&s, " in ")) return KIND_NONE;
    read_gdb_function(&s, out);
    out->pc = out->value;
    out->usual_base = out->module.len ? 0 : GDB_BASE;
    out->by_maps = true;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

static bool has_place(const struct line_filler *f) {
    struct line_scan s = { f->text, f->at->fill_at };
    size_t at;
    return scan_find(&s, ") at ", &at);
}

/* "orders_load () at liborders.c:21"; an inlined call is a line of its own, and the function that it was inlined into has no address. What
 * gdb knew stays. */
static void fill_gdb(struct line_filler *f) {
    if (has_place(f)) {
        f->kept = true;
        fill_numbered(f, 0, f->text.len);
        fill_ending(f);
        return;
    }
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        size_t blank = f->at->number_end; /* an inlined call's function has no address */
        while (blank < f->text.len && f->text.ptr[blank] == ' ') blank++;
        fill_numbered(f, k, k && blank ? blank : f->at->fill_at);
        fill_name(f, k);
        out_text(f->out, " ()");
        if (fill_has_file(f, k)) {
            out_text(f->out, " at ");
            fill_file(f, k, false);
        } else if (f->at->module.len) {
            out_text(f->out, " from ");
            out_bytes(f->out, f->at->module.ptr, f->at->module.len);
        }
        fill_ending(f);
    }
}

const struct stack_dialect gdb_dialect = { .name = "gdb", .marks = { MARK_HASH | MARK_HEX, MARK_START_HEX },
                                           .read = read_gdb_line, .fill = fill_gdb };
