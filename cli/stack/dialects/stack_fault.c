/* Register dumps of firmware: Zephyr, FreeRTOS, ESP-IDF, handlers for Cortex-M and RISC-V. Addresses are those of the
 * one image that runs: a value is a frame only if exactly one index was given and has a function there.
 *
 *     E: r3/a4:  0x00000004 r12/ip:  0x0000000c r14/lr:  0x00001155
 *     E: Faulting instruction address (r15/pc): 0x00001139
 *     Faulting instruction address = 0xd8a
 *     PC      : 0x400ebc34  PS      : 0x00060f30  A0      : 0x800d277b
 *     MEPC    : 0x42001139  RA      : 0x42001155
 *        mepc: 42001139
 *          0: sp: 80002f30 ra: 80001155                            Zephyr's call trace */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

struct fault_state {
    struct stack_modules *modules;
};

struct fault_register {
    struct csn_str name; /* small letters */
    bool exact;          /* interrupted there */
};
#define NAMED(text) { (text), sizeof(text) - 1 }
static const struct fault_register fault_registers[] = {
    { NAMED("pc"), true },      { NAMED("mepc"), true },     { NAMED("epc"), true },     { NAMED("sepc"), true },
    { NAMED("elr_eln"), true }, { NAMED("elr"), true },      { NAMED("rip"), true },     { NAMED("eip"), true },
    { NAMED("r15/pc"), true },  { NAMED("(r15/pc)"), true }, { NAMED("address"), true }, { NAMED("lr"), false },
    { NAMED("ra"), false },     { NAMED("r14/lr"), false },  { NAMED("x30/lr"), false },
};

static char small_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static const struct fault_register *find_register(struct csn_str word) {
    for (size_t i = 0; i < sizeof(fault_registers) / sizeof(fault_registers[0]); i++) {
        const struct csn_str name = fault_registers[i].name;
        size_t k = 0;
        if (name.len != word.len) continue;
        while (k < word.len && small_letter(word.ptr[k]) == name.ptr[k]) k++;
        if (k == word.len) return &fault_registers[i];
    }
    return NULL;
}

static bool is_word_end(char c) { return !c || c == ' ' || c == '\t' || c == ':' || c == '='; }

/* ": 0x00001139", " = 0x1139" or ": 42001139" */
static bool read_register_value(struct line_scan *s, uint64_t *out) {
    enum { DIGITS_ALONE = 8 };
    if (!scan_char(s, ':') && !scan_char(s, '=')) return false;
    scan_blanks(s);
    if (scan_hex(s, out)) return true;
    size_t from = s->at;
    return scan_number(s, 16, out) && s->at - from >= DIGITS_ALONE;
}

/* The word that ends at `end`, blanks after it ignored. */
static struct csn_str word_before(struct csn_str line, size_t from, size_t end) {
    while (end > from && (line.ptr[end - 1] == ' ' || line.ptr[end - 1] == '\t')) end--;
    size_t at = end;
    while (at > from && !is_word_end(line.ptr[at - 1])) at--;
    return (struct csn_str){ line.ptr + at, end - at };
}

static bool read_register(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    struct fault_state *fault = state;
    for (size_t at = from; at < line.len; at++) {
        if (line.ptr[at] != ':' && line.ptr[at] != '=') continue;
        const struct fault_register *found = find_register(word_before(line, from, at));
        struct line_scan s = { line, at };
        if (!found || !read_register_value(&s, &out->value)) continue;
        out->flags = found->exact ? CSN_STACK_EXACT : CSN_STACK_RETURN;
        out->pc = out->value;
        out->fill_at = out->fill_end = s.at;
        scan_filled(&s);
        out->end = s.at;
        if (stack_place_is_alone(fault->modules->session, out->value, out->flags)) return true;
    }
    return false;
}

/* "/src/main.go:12 +0x1d fp=0xc00008aeb0 sp=0xc00008ae98 pc=0x49e6e4": of callers; stack_go.c reads it, if nothing
 * stands before it. */
static bool is_go_frame(struct csn_str line) {
    const struct line_scan s = scan_on(line);
    size_t at;
    return scan_find(&s, " fp=0x", &at) && scan_find(&s, " sp=0x", &at) &&
           (scan_find(&s, ".go:", &at) || scan_find(&s, ".s:", &at));
}

static enum line_kind read_fault_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct fault_state *fault = state;
    (void)open;
    fault->modules = modules;
    if (csn_store_given_count(modules->session->store) != 1 || !read_register(state, line, 0, out)) return KIND_NONE;
    if (is_go_frame(line)) return KIND_NONE;
    return out->flags & CSN_STACK_EXACT ? KIND_FIRST : KIND_FRAME;
}

const struct stack_dialect fault_dialect = { .name = "fault", .marks = { MARK_HEX, MARK_VALUE },
                                             .state_size = sizeof(struct fault_state),
                                             .read = read_fault_line, .more = read_register, .fill = fill_line_in_brackets };
