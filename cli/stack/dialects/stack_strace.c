/* strace -k and ltrace -w: the stack of each call, below it.
 *
 *      > /opt/app/liborders.so(orders_load+0x9) [0x1161]          strace: an offset in the file
 *      > /opt/app/liborders.so(orders_load+0x9) [0x7f1af12fe161]  ltrace: of the process
 *      > /opt/app/liborders.so(shop::load(int)+0x9) [0x1161]      demangled
 *      > /opt/app/orders() [0x1461]                               no symbol */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* Offsets in a file are smaller. */
enum { PROCESS_BITS = 32 };

/* The bracket that the one at `close` closes: demangled names have their own. */
static bool find_opening(struct csn_str line, size_t from, size_t close, size_t *out) {
    size_t depth = 1;
    for (size_t at = close; at > from; at--) {
        if (line.ptr[at - 1] == ')') depth++;
        if (line.ptr[at - 1] != '(' || --depth) continue;
        *out = at - 1;
        return true;
    }
    return false;
}

static enum line_kind read_strace_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t bracket, close, opening, plus;
    (void)state, (void)modules;
    if (!scan_blanks(&s) || !scan_text(&s, "> ")) return KIND_NONE;
    size_t path = s.at;
    if (!scan_find(&s, ") [", &close)) return open ? KIND_INSIDE : KIND_NONE;
    bracket = close + 3;
    struct line_scan number = { line, bracket }, names = { { line.ptr, close }, path };
    if (!scan_hex(&number, &out->value) && !scan_number(&number, 16, &out->value)) return KIND_NONE;
    if (!scan_char(&number, ']') || !find_opening(line, path, close, &opening) || opening == path) return KIND_NONE;
    out->module = (struct csn_str){ line.ptr + path, opening - path };
    names.at = opening + 1;
    if (scan_find_last(&names, '+', &plus)) {
        struct line_scan offset = { names.line, plus + 1 };
        out->has_symbol_offset = scan_hex(&offset, &out->symbol_offset) && scan_at_end(&offset);
        out->symbol = (struct csn_str){ line.ptr + opening + 1, plus - opening - 1 };
    }
    bool of_process = out->value >> PROCESS_BITS;
    out->site = of_process ? SITE_PC : SITE_FILE_OFFSET;
    out->pc = of_process ? out->value : 0;
    out->by_maps = true;
    out->fill_at = out->fill_end = line.len;
    return KIND_FRAME;
}

const struct stack_dialect strace_dialect = { .name = "strace", .marks = { MARK_SIGN | MARK_INDENT | MARK_MODULE },
                                              .read = read_strace_line, .fill = fill_line_in_brackets };
