/* Go's panics and goroutine dumps: two lines a frame.
 *
 *     main.(*Shape).Area(0xc000012345)
 *     	/src/shapes.go:12 +0x1d           from the start of the function that the call was compiled into
 *
 * Arguments of an inlined call are "..."; it has no offset of its own. The frames of the function that it was compiled
 * into have it too. */
#include "stack/dialects/line_scan.h"
#include "stack/dialects/stack_dialect.h"

static bool keep_symbol(struct dialect_state *state, struct csn_str name, bool inlined) {
    if (name.len >= sizeof(state->symbol)) return false;
    memcpy(state->symbol, name.ptr, name.len);
    state->symbol_size = name.len;
    state->inlined = inlined;
    return true;
}

/* "main.area(0x1, ...)", "created by main.main in goroutine 1". */
static bool read_function(struct dialect_state *state, struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t end;
    if (scan_text(&s, "created by ")) {
        end = line.len;
        scan_find(&s, " in goroutine ", &end);
        return keep_symbol(state, (struct csn_str){ line.ptr + s.at, end - s.at }, false);
    }
    if (line.len < 3 || line.ptr[line.len - 1] != ')' || line.ptr[0] == ' ' || line.ptr[0] == '\t') return false;
    /* The arguments begin at the bracket that the last one closes; those of a receiver stand before. */
    size_t depth = 0;
    for (end = line.len; end > 0; end--) {
        if (line.ptr[end - 1] == ')') depth++;
        if (line.ptr[end - 1] == '(' && --depth == 0) break;
    }
    if (end < 2 || !memchr(line.ptr, '.', end)) return false;
    struct csn_str name = { line.ptr, end - 1 };
    if (memchr(name.ptr, ' ', name.len)) return false;
    return keep_symbol(state, name, line.len - end == 4 && memcmp(line.ptr + end, "...)", 4) == 0);
}

/* "	/src/shapes.go:12 +0x1d" */
static bool read_place(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t plus, colon;
    if (!scan_char(&s, '\t')) return false;
    if (!scan_find_last(&s, '+', &plus) || plus < 2 || line.ptr[plus - 1] != ' ') return false;
    struct line_scan number = { line, plus + 1 };
    if (!scan_hex(&number, &out->value)) return false;
    struct line_scan place = { { line.ptr, plus - 1 }, 1 };
    return scan_find_last(&place, ':', &colon);
}

static enum line_kind read_line(struct dialect_state *state, struct csn_str line, bool open, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    if (scan_text(&s, "goroutine ") && line.len && line.ptr[line.len - 1] == ':') {
        state->symbol_size = 0;
        state->after_head = true;
        return KIND_CONTEXT;
    }
    if (state->symbol_size && state->inlined && line.len && line.ptr[0] == '\t') {
        state->symbol_size = 0;
        return KIND_INSIDE;
    }
    if (state->symbol_size && read_place(line, out)) {
        bool first = state->after_head;
        out->symbol = (struct csn_str){ state->symbol, state->symbol_size };
        out->module = state->go_module;
        out->place = PLACE_SYMBOL;
        out->flags = first ? CSN_STACK_RETURN : 0;
        out->fill_at = out->fill_end = line.len;
        state->symbol_size = 0;
        state->after_head = false;
        return KIND_FRAME;
    }
    if (!open && !state->after_head) return KIND_NONE;
    if (read_function(state, line)) return KIND_INSIDE;
    return KIND_NONE;
}

const struct stack_dialect go_dialect = { "go", FILL_GO, read_line };
