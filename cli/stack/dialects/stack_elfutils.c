/* elfutils: eu-stack, of processes and core dumps.
 *
 *     0x00007fea4dc81000-0x00007fea4de56000 libc.so.6                 -l, before the stacks
 *     TID 5275:
 *     #0  0x00007fea4dd54dd0 pause - /usr/lib/libc.so.6               -m: the module
 *         [93ac61ec...]@0x7fea4dc81000+0xd3dd0                        -b: its build id, its first byte and the offset from there
 *     #1  0x0000563313425168 - 1 area - /opt/app/app                  -a: not interrupted here, but a caller
 *         /src/shapes.c:6:12                                          -s
 *     #2  0x0000563313425168 - 1 main - /opt/app/app                  -i: the call before was inlined into this one
 *     #3  0x0000563313425091
 *
 * The offsets of -b lie within the call, the addresses behind it. */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

enum { ELFUTILS_NAME = 4096 };
struct elfutils_state {
    bool in_thread;
    struct inlined_group group; /* of the last frame */
    size_t module_len;
    char module[ELFUTILS_NAME]; /* of the last frame; empty: the line does not tell, or it is longer */
};

/* "TID 5275:" */
static bool read_thread(struct csn_str line) {
    struct line_scan s = scan_on(line);
    uint64_t number;
    return scan_text(&s, "TID ") && scan_number(&s, 10, &number) && scan_char(&s, ':') && scan_at_end(&s);
}

/* " - 1 area - /opt/app/app": both may be missing. */
static void read_names(struct line_scan *s, struct line_frame *out) {
    static const char dash[] = " - ";
    size_t at, module = s->line.len;
    if (scan_text(s, " - 1") && !scan_at_end(s) && scan_peek(s) != ' ') s->at -= 4;
    for (struct line_scan rest = *s; scan_find(&rest, dash, &at); rest.at = at + 1) module = at;
    if (module < s->line.len) {
        const size_t name = module + sizeof(dash) - 1;
        out->module = (struct csn_str){ s->line.ptr + name, s->line.len - name };
    }
    scan_blanks(s);
    if (s->at < module) out->symbol = (struct csn_str){ s->line.ptr + s->at, module - s->at };
}

/* "    [93ac61ec...]@0x7fea4dc81000+0xd3dd0" places the frame before it, and its module. */
static bool read_place(struct elfutils_state *elfutils, struct stack_modules *modules, struct line_scan s) {
    struct module_names names = { .name = { elfutils->module, elfutils->module_len } };
    uint64_t start, offset;
    size_t close;
    if (!scan_char(&s, '[') || !scan_find(&s, "]@", &close)) return false;
    const struct csn_str digits = { s.line.ptr + s.at, close - s.at };
    s.at = close + 2;
    if (!build_id_parse(digits, &names.id) || !scan_hex(&s, &start) || !scan_char(&s, '+') || !scan_hex(&s, &offset) ||
        !scan_at_end(&s))
        return false;
    if (names.name.len) stack_modules_add_place(modules, &names, start, offset);
    return true;
}

/* "/src/shapes.c:6:12". Frames of others, as of Android's log, may follow with blanks before them. */
static bool is_source(struct line_scan s) {
    size_t colon;
    uint64_t number;
    if (scan_peek(&s) == '#' || !scan_find_last(&s, ':', &colon)) return false;
    s.at = colon + 1;
    return scan_number(&s, 10, &number) && scan_at_end(&s);
}

/* "0x00007fea4dc81000-0x00007fea4de56000 libc.so.6" */
static bool read_module(struct stack_modules *modules, struct csn_str line) {
    struct line_scan s = scan_on(line);
    struct module_names names = { .name = { "", 0 } };
    uint64_t start, end;
    if (!scan_hex(&s, &start) || !scan_char(&s, '-') || !scan_hex(&s, &end) || end <= start || !scan_char(&s, ' ')) return false;
    if (!scan_word(&s, &names.name) || !scan_at_end(&s)) return false;
    stack_modules_add_image(modules, &names, start, end);
    return true;
}

static enum line_kind read_inside(struct elfutils_state *elfutils, struct stack_modules *modules, struct csn_str line, bool open) {
    static const char indent[] = "    ";
    struct line_scan s = scan_on(line);
    if (open && scan_text(&s, indent) && (read_place(elfutils, modules, s) || is_source(s))) return KIND_INSIDE;
    elfutils->in_thread = read_thread(line);
    elfutils->group.pc = 0;
    return elfutils->in_thread || read_module(modules, line) ? KIND_CONTEXT : KIND_NONE;
}

static enum line_kind read_elfutils_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct elfutils_state *elfutils = state;
    struct line_scan s = scan_on(line);
    if (!elfutils->in_thread || !scan_char(&s, '#') || !scan_number(&s, 10, &out->number) || !scan_blanks(&s) ||
        !scan_hex(&s, &out->pc))
        return read_inside(elfutils, modules, line, open);
    read_names(&s, out);
    const bool has_room = out->module.len < ELFUTILS_NAME,
               inlined = inlined_group_goes_on(&elfutils->group, open, out->pc, out->symbol);
    elfutils->module_len = has_room ? out->module.len : 0;
    if (elfutils->module_len) memcpy(elfutils->module, out->module.ptr, elfutils->module_len);
    if (inlined) return KIND_INSIDE; /* the frame before has the calls of both lines */
    out->value = out->pc;
    out->by_maps = true;
    out->fill_at = out->fill_end = line.len;
    if (out->number) out->flags = CSN_STACK_RETURN;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect elfutils_dialect = { .name = "elfutils", .is_flush = true, .marks = { MARK_COLON, MARK_START_HEX },
                                                .state_size = sizeof(struct elfutils_state),
                                                .read = read_elfutils_line, .fill = fill_line_in_brackets };
