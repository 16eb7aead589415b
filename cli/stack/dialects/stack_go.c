/* Go's panics and goroutine dumps: two lines a frame.
 *
 *     [signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0]
 *
 *     main.(*Shape).Area(0xc000012345)
 *     	/src/shapes.go:12 +0x1d           from the start of the function that the call was compiled into
 *     main.fail(0x0)
 *     	/src/shapes.go:3                  interrupted at the function's first instruction
 *     main.fail(0x0)
 *     	/src/shapes.go:3 +0x4 fp=0xc00008aeb0 sp=0xc00008ae98 pc=0x49e6e4       GOTRACEBACK=system
 *     panic({0x4ae600?, 0x57f4e0?})     what runtime.gopanic is called
 *
 *     PC=0x48b500 m=0 sigcode=1 addr=0x8                interrupted in C code
 *     non-Go function
 *     	pc=0x48b53a
 *     [originating from goroutine 3]:                   GODEBUG=tracebackancestors: all arguments are "..."
 *
 *     Read at 0x0000006b9818 by goroutine 7:            the race detector: the byte before the return
 *       main.parseLine()
 *           /src/orders.go:15 +0x2a
 *     Goroutine 7 (running) created at:
 *
 * Arguments of an inlined call are "..."; it has no offset of its own. The frames of the function that it was compiled
 * into have it too. Which call of panic() or which first frame a signal interrupted is known by the signal's pc alone. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

struct go_state {
    char symbol[512];        /* the function of the line before */
    size_t symbol_size;      /* 0: there was none */
    bool inlined;            /* the call of that function was */
    bool after_head;         /* "goroutine 1 [running]:" was the last line */
    bool after_panic;        /* the frame before was of panic() */
    bool has_goroutine;      /* of this report, after its signal */
    bool in_race;            /* the stack is one of the race detector's */
    uint64_t signal_pc;      /* where the signal of this report interrupted the program; 0: there was none */
    struct csn_str module;   /* Go names no modules: the first index that was given */
};

static void init_go(void *state, const struct stack_session *session) {
    struct go_state *go = state;
    if (csn_store_given_count(session->store)) go->module = csn_store_given_name(session->store, 0);
}

static const char go_panic[] = "runtime.gopanic";

static bool keep_symbol(struct go_state *go, struct csn_str name, bool inlined) {
    if (name.len >= sizeof(go->symbol)) return false;
    memcpy(go->symbol, name.ptr, name.len);
    go->symbol_size = name.len;
    go->inlined = inlined;
    return true;
}

static bool name_is(struct csn_str name, const char *text) {
    return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
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
    if (go->in_race && scan_text(&s, "  ")) line = scan_rest(&s);
    if (line.len < 3 || line.ptr[line.len - 1] != ')' || line.ptr[0] == ' ' || line.ptr[0] == '\t') return false;
    /* The arguments begin at the bracket that the last one closes; those of a receiver stand before. */
    size_t depth = 0;
    for (end = line.len; end > 0; end--) {
        if (line.ptr[end - 1] == ')') depth++;
        if (line.ptr[end - 1] == '(' && --depth == 0) break;
    }
    if (end < 2) return false;
    struct csn_str name = { line.ptr, end - 1 };
    if (name_is(name, "panic")) name = (struct csn_str){ go_panic, sizeof(go_panic) - 1 };
    if (memchr(name.ptr, ' ', name.len)) return false;
    return keep_symbol(go, name, line.len - end == 4 && memcmp(line.ptr + end, "...)", 4) == 0);
}

/* " fp=0xc00008aeb0 sp=0xc00008ae98 pc=0x49e6e4" at the end, which is taken off. */
static void take_registers(struct csn_str *line, uint64_t *pc) {
    struct line_scan s = scan_on(*line);
    size_t registers, at;
    *pc = 0;
    if (!scan_find(&s, " fp=0x", &registers)) return;
    s.at = registers;
    if (!scan_find(&s, " pc=", &at)) return;
    s.at = at + 4;
    if (scan_hex(&s, pc)) line->len = registers;
}

/* The line of a place: the race detector's begin with six blanks. */
static bool is_indented(const struct go_state *go, struct csn_str line) {
    struct line_scan s = scan_on(line);
    return go->in_race ? scan_text(&s, "      ") : scan_char(&s, '\t');
}

/* "	/src/shapes.go:12 +0x1d", or without the offset. */
static bool read_site(const struct go_state *go, struct csn_str line, struct line_frame *out) {
    uint64_t number;
    size_t plus, colon;
    out->fill_at = out->fill_end = line.len;
    take_registers(&line, &out->pc);
    struct line_scan s = scan_on(line);
    if (!is_indented(go, line)) return false;
    out->value = 0;
    if (scan_find_last(&s, '+', &plus) && plus > 2 && line.ptr[plus - 1] == ' ') {
        struct line_scan offset = { line, plus + 1 };
        if (!scan_hex(&offset, &out->value)) return false;
        line.len = plus - 1;
    }
    struct line_scan place = { line, 1 };
    if (!scan_find_last(&place, ':', &colon)) return false;
    place.at = colon + 1;
    return scan_number(&place, 10, &number) && scan_at_end(&place);
}

/* "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x49e6e0]" */
static bool read_signal(struct csn_str line, uint64_t *pc) {
    struct line_scan s = scan_on(line);
    size_t at;
    if (!scan_text(&s, "[signal ") || !scan_find(&s, " pc=", &at)) return false;
    s.at = at + 4;
    return scan_hex(&s, pc) && scan_char(&s, ']');
}

/* "PC=0x48b500 m=0 sigcode=1 addr=0x8": where a signal interrupted C code. */
static bool read_c_signal(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    if (!scan_text(&s, "PC=") || !scan_hex(&s, &out->value) || !scan_text(&s, " m=")) return false;
    out->flags = CSN_STACK_EXACT;
    return true;
}

/* "	pc=0x48b53a", of C code that a stack went through */
static bool read_c_frame(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    out->flags = CSN_STACK_RETURN;
    return scan_text(&s, "\tpc=") && scan_hex(&s, &out->value);
}

static enum line_kind finish_c_frame(struct csn_str line, enum line_kind kind, struct line_frame *out) {
    out->pc = out->value;
    out->by_maps = true;
    out->fill_at = out->fill_end = line.len;
    return kind;
}

/* "Read at 0x0000006b9818 by goroutine 7:", "Previous write at 0x0000006b9818 by main goroutine:", "Goroutine 7
 * (running) created at:" */
static bool is_race_head(struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t at;
    if (line.ptr[line.len - 1] != ':') return false;
    if (scan_text(&s, "Goroutine ")) return scan_find(&s, ") created at:", &at);
    return scan_find(&s, " at 0x", &at) && (scan_find(&s, " by goroutine ", &at) || scan_find(&s, " by main goroutine:", &at));
}

/* Whether a stack follows. */
static bool is_head(struct csn_str line) {
    struct line_scan s = scan_on(line);
    if (!line.len || line.ptr[line.len - 1] != ':') return false;
    return name_is(line, "runtime stack:") || scan_text(&s, "goroutine ") || scan_text(&s, "[originating from goroutine ");
}

/* "...87187 frames elided...", "...additional frames elided..." */
static bool is_elision(struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t at;
    return scan_text(&s, "...") && scan_find(&s, " frames elided...", &at);
}

/* The frame of the function before. */
static enum line_kind finish_frame(struct go_state *go, struct line_frame *out) {
    const struct csn_str symbol = { go->symbol, go->symbol_size };
    out->symbol = symbol;
    out->module = go->module;
    out->site = SITE_SYMBOL;
    out->flags = go->in_race ? CSN_STACK_BEFORE : go->after_head ? CSN_STACK_RETURN : 0;
    if (!out->value) out->flags = CSN_STACK_EXACT; /* the byte before is another function's */
    if (go->after_head || go->after_panic) out->interrupted_pc = go->signal_pc;
    if (out->pc) {
        out->site = SITE_PC;
        out->symbol_offset = out->value;
        out->has_symbol_offset = out->by_maps = true;
        out->value = out->pc;
        if (out->interrupted_pc == out->pc) out->flags = CSN_STACK_EXACT;
    }
    go->after_panic = name_is(symbol, go_panic);
    go->symbol_size = 0;
    go->after_head = false;
    return KIND_FRAME;
}

/* A report has one signal, of the first goroutine that it shows. */
static void begin_goroutine(struct go_state *go) {
    if (go->has_goroutine) go->signal_pc = 0;
    go->has_goroutine = go->after_head = true;
    go->after_panic = go->in_race = false;
    go->symbol_size = 0;
}

/* "	goroutine running on other thread; stack unavailable", "non-Go function" and its "	pc=0x7f93bcfd9139" */
static bool is_remark(struct csn_str line) {
    return (line.len && line.ptr[0] == '\t') || name_is(line, "non-Go function") || is_elision(line);
}

static enum line_kind read_go_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                   struct line_frame *out) {
    struct go_state *go = state;
    uint64_t signal_pc;
    (void)modules;
    const bool race = line.len && is_race_head(line);
    if (race || is_head(line)) {
        begin_goroutine(go);
        go->in_race = race;
        return KIND_CONTEXT;
    }
    if (go->symbol_size && read_site(go, line, out)) {
        if (!go->inlined || out->value) return finish_frame(go, out);
        *out = (struct line_frame){ .site = SITE_PC };
        go->symbol_size = 0;
        return KIND_INSIDE;
    }
    if (read_c_signal(line, out)) return finish_c_frame(line, KIND_FIRST, out);
    if (open && read_c_frame(line, out)) return finish_c_frame(line, KIND_FRAME, out);
    *out = (struct line_frame){ .site = SITE_PC };
    go->symbol_size = 0;
    if ((open || go->after_head) && (read_function(go, line) || is_remark(line))) return KIND_INSIDE;
    go->after_head = false;
    if (read_signal(line, &signal_pc)) { /* a frame of another dialect */
        go->signal_pc = signal_pc;
        go->has_goroutine = false;
    }
    return KIND_NONE;
}

const struct stack_dialect go_dialect = { .name = "go", .is_flush = true, .marks = { MARK_OFFSET, MARK_COLON, MARK_SIGN | MARK_HEX,
                                                                   MARK_EVENT | MARK_HEX },
                                          .state_size = sizeof(struct go_state), .init = init_go, .read = read_go_line,
                                          .fill = fill_behind_line };
