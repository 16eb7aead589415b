/* Rust's panics with RUST_BACKTRACE=full. The short form has no addresses.
 *
 *        4:     0x55a4c8a3f9d2 - orders::parse_line::h0123456789abcdef
 *                                    at /opt/app/orders.rs:12:5
 *        5:     0x55a4c8a3fa01 - <unknown>
 *
 * Inlined calls have the address of the function that they were inlined into. */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

struct rust_state {
    struct inlined_group group; /* of the frame before; inlined calls repeat its address */
};

static bool is_file_line(struct csn_str line) {
    struct line_scan s = scan_on(line);
    return scan_blanks(&s) && scan_text(&s, "at ");
}

static enum line_kind read_rust_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                     struct line_frame *out) {
    struct rust_state *rust = state;
    struct line_scan s = scan_on(line);
    (void)modules;
    if (open && is_file_line(line)) return KIND_INSIDE;
    scan_blanks(&s);
    if (!scan_number(&s, 10, &out->number) || !scan_char(&s, ':') || !scan_blanks(&s)) return KIND_NONE;
    if (!scan_hex(&s, &out->value)) return KIND_NONE;
    out->fill_at = out->fill_end = line.len;
    if (!scan_text(&s, " - ")) return KIND_NONE;
    out->symbol = scan_rest(&s);
    if (inlined_group_goes_on(&rust->group, open && out->number, out->value, out->symbol)) return KIND_INSIDE;
    if (out->symbol.len && out->symbol.ptr[0] == '<' && out->symbol.ptr[out->symbol.len - 1] == '>') out->symbol.len = 0;
    out->pc = out->value;
    out->by_maps = true;
    out->flags = CSN_STACK_RETURN;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect rust_dialect = { .name = "rust", .marks = { MARK_NUMBER | MARK_HEX },
                                            .state_size = sizeof(struct rust_state),
                                            .read = read_rust_line, .fill = fill_line_in_brackets };
