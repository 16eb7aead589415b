/* Go's panics and goroutine dumps: two lines a frame.
 *
 *     main.(*Shape).Area(0xc000012345)
 *     	/src/shapes.go:12 +0x1d           from the start of the function that the call was compiled into
 *
 * Arguments of an inlined call are "..."; it has no offset of its own. The frames of the function that it was compiled
 * into have it too. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

struct go_state {
    char symbol[512];        /* the function of the line before */
    size_t symbol_size;      /* 0: there was none */
    bool inlined;            /* the call of that function was */
    bool after_head;         /* "goroutine 1 [running]:" was the last line */
    struct csn_str module;   /* Go names no modules: the first index that was given */
};

static void init_go(void *state, const struct stack_session *session) {
    struct go_state *go = state;
    if (csn_store_given_count(session->store)) go->module = csn_store_given_name(session->store, 0);
}

static bool keep_symbol(struct go_state *go, struct csn_str name, bool inlined) {
    if (name.len >= sizeof(go->symbol)) return false;
    memcpy(go->symbol, name.ptr, name.len);
    go->symbol_size = name.len;
    go->inlined = inlined;
    return true;
}

/* "main.area(0x1, ...)", "created by main.main in goroutine 1". */
static bool read_function(struct go_state *go, struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t end;
    if (scan_text(&s, "created by ")) {
        end = line.len;
        scan_find(&s, " in goroutine ", &end);
        return keep_symbol(go, (struct csn_str){ line.ptr + s.at, end - s.at }, false);
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
    return keep_symbol(go, name, line.len - end == 4 && memcmp(line.ptr + end, "...)", 4) == 0);
}

/* "	/src/shapes.go:12 +0x1d" */
static bool read_site(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t plus, colon;
    if (!scan_char(&s, '\t')) return false;
    if (!scan_find_last(&s, '+', &plus) || plus < 2 || line.ptr[plus - 1] != ' ') return false;
    struct line_scan number = { line, plus + 1 };
    if (!scan_hex(&number, &out->value)) return false;
    struct line_scan place = { { line.ptr, plus - 1 }, 1 };
    return scan_find_last(&place, ':', &colon);
}

static enum line_kind read_go_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                   struct line_frame *out) {
    struct go_state *go = state;
    (void)modules;
    struct line_scan s = scan_on(line);
    if (scan_text(&s, "goroutine ") && line.len && line.ptr[line.len - 1] == ':') {
        go->symbol_size = 0;
        go->after_head = true;
        return KIND_CONTEXT;
    }
    if (go->symbol_size && go->inlined && line.len && line.ptr[0] == '\t') {
        go->symbol_size = 0;
        return KIND_INSIDE;
    }
    if (go->symbol_size && read_site(line, out)) {
        bool first = go->after_head;
        out->symbol = (struct csn_str){ go->symbol, go->symbol_size };
        out->module = go->module;
        out->site = SITE_SYMBOL;
        out->flags = first ? CSN_STACK_RETURN : 0;
        out->fill_at = out->fill_end = line.len;
        go->symbol_size = 0;
        go->after_head = false;
        return KIND_FRAME;
    }
    if ((open || go->after_head) && read_function(go, line)) return KIND_INSIDE;
    go->after_head = false;
    return KIND_NONE;
}

const struct stack_dialect go_dialect = { .name = "go", .marks = { MARK_OFFSET, MARK_COLON }, .state_size = sizeof(struct go_state), .init = init_go,
                                          .read = read_go_line, .fill = fill_behind_line };
