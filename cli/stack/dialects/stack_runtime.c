/* What the run-time libraries of some languages write when a program fails.
 *
 *     #3  0x401165 in ???                                             gfortran; two blanks before any address
 *     #4  0x7f1af12fe249 in load_                                    what has a name has its place, too, in the next line
 *     	at /opt/app/load.f90:58
 *     ??:? _Dmain [0x5573eef12333]                                    D
 *     ??:? [0x5573eef12384]
 *     d.d:3 [0x5573eef12333]                                          complete
 *     ???:?:?: 0x11e54ac in parse (./orders)                          Zig
 *       $00000000004010D6                                             Free Pascal
 *       $00000000004010D6  LOAD,  line 4 of p.pas                     complete
 *     (0x18d5cf000 0x18c2d1000 0x1029f4161)                           NSException's call stack, of Apple's systems
 *                                                                     ("*** First throw call stack:" before it)
 *         #00 abs 00007f1af12fe160 virt 0000000000001160 _kDartIsolateSnapshotInstructions+0x160      Dart
 *
 * gfortran and Zig print the byte before the return, Free Pascal and Apple the return address, Dart and D, by version, either. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"
#include "ui/text_bytes.h"

/* Numbers between brackets, or behind '$', may be anything: what stands before them tells. */
struct runtime_state {
    uint64_t call_stack, error; /* the line after the last "call stack:", and after "Runtime error 200 at $00401139" */
};

/* The frame's parts end here; only what was filled in before may stand behind them. */
static bool ends_frame(struct line_scan *s, struct line_frame *out) {
    out->fill_at = out->fill_end = s->at;
    scan_filled(s);
    return scan_at_end(s);
}

static enum line_kind finish_frame(struct line_frame *out, uint32_t flags) {
    if (!out->pc) out->pc = out->value;
    out->by_maps = true;
    out->flags = flags;
    return KIND_FRAME;
}

/* ---- gfortran ---- */

static enum line_kind read_fortran(struct csn_str line, bool open, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct csn_str name;
    uint64_t number;
    if (open && scan_text(&s, "\tat ")) return KIND_INSIDE;
    if (!scan_char(&s, '#') || !scan_number(&s, 10, &number) || !scan_text(&s, "  ")) return KIND_NONE;
    if (has_text_at(line, s.at, "0x00")) return KIND_NONE; /* of gdb, whose line was cut */
    if (!scan_hex(&s, &out->value) || !scan_text(&s, " in ") || !scan_word(&s, &name) || !ends_frame(&s, out)) return KIND_NONE;
    if (name.ptr[0] != '?') out->symbol = name;
    out->is_complete = out->symbol.len > 0;
    finish_frame(out, CSN_STACK_BEFORE);
    return number ? KIND_FRAME : KIND_FIRST;
}

/* ---- D ---- */

/* "d.d:3 [0x5573eef12333]" has all there is to know. */
static bool has_source(struct csn_str line, size_t bracket) {
    const struct line_scan s = { { line.ptr, bracket }, 0 };
    struct line_scan number = s;
    size_t colon;
    uint64_t value;
    if (!scan_find_last(&s, ':', &colon)) return false;
    number.at = colon + 1;
    return colon && scan_number(&number, 10, &value) && (scan_at_end(&number) || scan_peek(&number) == ' ');
}

/* A name with blanks has a type, which places nothing. */
static enum line_kind read_d(struct csn_str line, bool open, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t bracket;
    if (!scan_find(&s, " [0x", &bracket)) return KIND_NONE;
    struct line_scan pc = { line, bracket + 2 };
    if (!scan_hex(&pc, &out->value) || !scan_char(&pc, ']') || !ends_frame(&pc, out)) return KIND_NONE;
    if (!scan_text(&s, "??:?")) return open && has_source(line, bracket) ? KIND_INSIDE : KIND_NONE;
    if (s.at < bracket && scan_char(&s, ' ') && !memchr(line.ptr + s.at, ' ', bracket - s.at))
        out->symbol = (struct csn_str){ line.ptr + s.at, bracket - s.at };
    return finish_frame(out, CSN_STACK_EITHER);
}

/* ---- Zig ---- */

static enum line_kind read_zig(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    struct csn_str name;
    size_t close;
    if (!scan_text(&s, "???:?:?: ") || !scan_hex(&s, &out->value) || !scan_text(&s, " in ")) return KIND_NONE;
    if (!scan_word(&s, &name) || !scan_text(&s, " (") || !scan_find(&s, ")", &close)) return KIND_NONE;
    const struct csn_str module = { line.ptr + s.at, close - s.at };
    s.at = close + 1;
    if (!ends_frame(&s, out)) return KIND_NONE;
    if (name.ptr[0] != '?') out->symbol = name;
    if (module.len && module.ptr[0] != '?') out->module = module;
    return finish_frame(out, CSN_STACK_BEFORE);
}

/* ---- Free Pascal ---- */

static void note_error(struct runtime_state *runtime, uint64_t number, struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t at;
    scan_blanks(&s);
    const bool is_error = scan_text(&s, "Runtime error ") || scan_text(&s, "An unhandled exception occurred");
    if (is_error && scan_find(&s, " at $", &at)) runtime->error = number + 1;
}

/* 16 digits alone are an address; 8 are one in what follows an error and its message. */
static enum line_kind read_pascal(const struct runtime_state *runtime, uint64_t number, struct csn_str line, bool open,
                                  struct line_frame *out) {
    enum { MESSAGE_LINES = 4 };
    struct line_scan s = scan_on(line);
    const bool is_told = open || (runtime->error && number - runtime->error < MESSAGE_LINES);
    size_t place;
    scan_blanks(&s);
    const size_t digits = s.at + 1;
    if (!scan_char(&s, '$') || !scan_number(&s, 16, &out->value) || (s.at - digits != 16 && s.at - digits != 8)) return KIND_NONE;
    if (s.at - digits == 8 && !is_told) return KIND_NONE;
    struct line_scan rest = s;
    if (ends_frame(&s, out)) return finish_frame(out, open ? CSN_STACK_RETURN : 0);
    return scan_text(&rest, "  ") && scan_find(&rest, "line ", &place) && open ? KIND_INSIDE : KIND_NONE;
}

/* ---- Apple's exceptions ---- */

/* "*** First throw call stack:", "Last Exception Backtrace:" */
static void note_call_stack(struct runtime_state *runtime, uint64_t number, struct csn_str line) {
    if (ends_with(line, "all stack:") || ends_with(line, "all stack at first throw:") || ends_with(line, "acktrace:"))
        runtime->call_stack = number + 1;
}

/* "(0x18d5cf000 0x18c2d1000)" to the end of the line, as it was filled in, too. Where nothing told that it comes, it has pcs of
 * 64 bits. */
static bool is_list(struct line_scan s, bool is_told) {
    size_t count = 0;
    uint64_t value;
    while (scan_hex(&s, &value)) {
        if (!is_told && value <= UINT32_MAX) return false;
        scan_filled(&s);
        count++;
        if (!scan_char(&s, ' ')) break;
    }
    return count > (is_told ? 1 : 2) && scan_char(&s, ')') && scan_at_end(&s);
}

static bool read_listed(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    struct line_scan s = { line, from };
    (void)state;
    scan_char(&s, ' ');
    if (!scan_hex(&s, &out->value)) return false;
    finish_frame(out, CSN_STACK_RETURN);
    out->fill_at = out->fill_end = s.at;
    scan_filled(&s);
    out->end = s.at;
    return true;
}

static enum line_kind read_exception(const struct runtime_state *runtime, uint64_t number, struct csn_str line,
                                     struct line_frame *out) {
    enum { LINES_BETWEEN = 1 };
    struct line_scan s = scan_on(line);
    const bool is_told = runtime->call_stack && number - runtime->call_stack <= LINES_BETWEEN;
    return scan_char(&s, '(') && is_list(s, is_told) && read_listed(NULL, line, s.at, out) ? KIND_FIRST : KIND_NONE;
}

/* ---- Dart ---- */

/* The address in the snapshot, which is the only index. */
static enum line_kind read_dart(const struct stack_modules *modules, struct csn_str line, struct line_frame *out) {
    const struct csn_store *store = modules->session->store;
    struct line_scan s = scan_on(line);
    struct csn_str name;
    scan_blanks(&s);
    if (!scan_char(&s, '#') || !scan_number(&s, 10, &out->number)) return KIND_NONE;
    if (!scan_text(&s, " abs ") || !scan_number(&s, 16, &out->pc) || !scan_text(&s, " virt ")) return KIND_NONE;
    if (!scan_number(&s, 16, &out->value) || !scan_char(&s, ' ') || !scan_word(&s, &name)) return KIND_NONE;
    if (!ends_frame(&s, out)) return KIND_NONE;
    if (csn_store_given_count(store) == 1) out->module = csn_store_given_name(store, 0);
    out->site = out->module.len ? SITE_ADDRESS : SITE_PC;
    finish_frame(out, CSN_STACK_EITHER);
    return out->number ? KIND_FRAME : KIND_FIRST;
}

static enum line_kind read_runtime_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                        struct line_frame *out) {
    const struct line_frame none = { .site = SITE_PC };
    const uint64_t number = modules->line;
    struct runtime_state *runtime = state;
    enum line_kind kind = read_fortran(line, open, out);
    note_error(runtime, number, line);
    note_call_stack(runtime, number, line);
    if (kind == KIND_NONE) kind = (*out = none, read_d(line, open, out));
    if (kind == KIND_NONE) kind = (*out = none, read_zig(line, out));
    if (kind == KIND_NONE) kind = (*out = none, read_pascal(runtime, number, line, open, out));
    if (kind == KIND_NONE) kind = (*out = none, read_exception(runtime, number, line, out));
    return kind == KIND_NONE ? (*out = none, read_dart(modules, line, out)) : kind;
}

static void fill_runtime(struct line_filler *f) {
    if (f->at->is_complete) fill_nothing(f);
    else fill_line_in_brackets(f);
}

const struct stack_dialect runtime_dialect = {
    .name = "runtime", .is_flush = true,
    .marks = { MARK_HASH, MARK_BRACKET_HEX, MARK_OPENING, MARK_HEX | MARK_UNKNOWN, MARK_COLON, MARK_EVENT },
    .state_size = sizeof(struct runtime_state),
    .read = read_runtime_line, .more = read_listed, .ends_list = crash_ends_list, .fill = fill_runtime
};
