/* What glibc's backtrace_symbols() and backtrace_symbols_fd() write, and the many programs that use them.
 *
 *     /opt/app/liborders.so(+0x113b)[0x7f93bcfd913b]              from the module's first byte
 *     /opt/app/liborders.so(orders_load+0x9) [0x7f93bcfd9161]     from a function that the module exports
 *     ./orders-fixed[0x4011fe]                                    a program that is not relocated
 *     [0x7f93bcfd9161]
 *
 * Python's faulthandler (since 3.14), Node.js, PyTorch and Envoy write what the same functions tell in forms of their own.
 *
 *       Binary file "/opt/app/liborders.so", at +0x113b [0x7f93bcfd913b]
 *       Binary file "/opt/app/liborders.so", at orders_load+0x9 [0x7f93bcfd9161]
 *      2: 0xf50bdf v8::internal::FunctionCallbackArguments::Call(v8::internal::CallHandlerInfo) [node]
 *      3: 0x7f93bcfd9161  [/opt/app/liborders.so]
 *     frame #1: orders_load + 0x9 (0x7f93bcfd9161 in /opt/app/liborders.so)
 *     frame #2: <unknown function> + 0x113b (0x7f93bcfd913b in /opt/app/liborders.so)       from the module's first byte
 *     #1: orders_load [0x7f93bcfd9161]
 *
 * All are return addresses, the first one too. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

enum { UNMOVED_BASE = 0x400000 }; /* where linkers put programs that are not relocated */

/* "(orders_load+0x9)", "(+0x113b)" or "()", of which the closing bracket is the last character of `line`. */
static bool read_bracket(struct csn_str line, struct line_frame *out, size_t *path_end) {
    struct line_scan s = scan_on(line);
    size_t open, plus;
    if (!scan_find_last(&s, '(', &open)) return false;
    *path_end = open;
    s.at = open + 1;
    if (scan_char(&s, ')')) return true;
    if (!scan_find_last(&s, '+', &plus)) return false;
    struct line_scan number = { line, plus + 1 };
    if (!scan_hex(&number, &out->symbol_offset) || number.at + 1 != line.len) return false;
    out->symbol = (struct csn_str){ line.ptr + s.at, plus - s.at };
    out->has_symbol_offset = true;
    return true;
}

/* The path is the last word: what a program wrote before it is none of it. */
static struct csn_str last_word(struct csn_str text) {
    size_t from = text.len;
    while (from && text.ptr[from - 1] != ' ' && text.ptr[from - 1] != '\t') from--;
    return (struct csn_str){ text.ptr + from, text.len - from };
}

/* Programs change how they are called: "/usr/bin/redis-server 127.0.0.1:6379", "postgres: alice orders [local] SELECT". */
static struct csn_str program_of(struct csn_str text) {
    static const char postgres[] = "postgres: ";
    const struct csn_str last = last_word(text);
    struct line_scan s = scan_on(text);
    struct csn_str word;
    scan_blanks(&s);
    if (scan_text(&s, postgres)) return (struct csn_str){ text.ptr + s.at - sizeof(postgres) + 1, sizeof(postgres) - 3 };
    struct csn_str before = last;
    if (memchr(last.ptr, '/', last.len)) return last;
    while (scan_word(&s, &word)) {
        const bool is_last = word.ptr == last.ptr;
        if (is_last) return memchr(last.ptr, ':', last.len) ? before : last;
        if (memchr(word.ptr, '/', word.len) && !strchr("0123456789[(", word.ptr[0])) return word;
        before = word;
        scan_blanks(&s);
    }
    return last;
}

/* Without brackets, nothing but the path stands before the address: many lines of logs end in an address. */
static bool is_alone(struct csn_str line, size_t bracket) {
    struct line_scan s = scan_on(line);
    struct csn_str word;
    scan_blanks(&s);
    return scan_word(&s, &word) && s.at > bracket;
}

/* "Binary file "/opt/app/liborders.so", at orders_load+0x9 [0x7f93bcfd9161]" */
static bool read_faulthandler(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t quote, plus, bracket;
    scan_blanks(&s);
    if (!scan_text(&s, "Binary file ")) return false;
    if (!scan_text(&s, "'<unknown>'")) {
        if (!scan_char(&s, '"') || !scan_find(&s, "\"", &quote) || quote == s.at) return false;
        out->module = (struct csn_str){ line.ptr + s.at, quote - s.at };
        s.at = quote + 1;
    }
    if (scan_text(&s, ", at ")) {
        if (!scan_find_last(&s, '+', &plus)) return false;
        out->symbol = (struct csn_str){ line.ptr + s.at, plus - s.at };
        s.at = plus + 1;
        if (!scan_hex(&s, &out->symbol_offset)) return false;
        out->has_symbol_offset = true;
    }
    if (!scan_find(&s, " [0x", &bracket) || bracket != s.at) return false;
    s.at += 2;
    return scan_hex(&s, &out->pc) && scan_char(&s, ']') && scan_at_end(&s);
}

/* " 3: 0x7f93bcfd9161 orders_load [/opt/app/liborders.so]" */
static bool read_node(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t bracket;
    scan_blanks(&s);
    if (!scan_number(&s, 10, &out->number) || !scan_text(&s, ": ") || !scan_hex(&s, &out->pc) || !scan_char(&s, ' ')) return false;
    if (line.ptr[line.len - 1] != ']' || !scan_find_last(&s, '[', &bracket) || line.ptr[bracket - 1] != ' ') return false;
    out->module = (struct csn_str){ line.ptr + bracket + 1, line.len - bracket - 2 };
    if (bracket > s.at + 1) out->symbol = (struct csn_str){ line.ptr + s.at, bracket - 1 - s.at };
    return out->module.len > 0;
}

/* "frame #1: orders_load + 0x9 (0x7f93bcfd9161 in /opt/app/liborders.so)" */
static bool read_c10(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line), rest;
    size_t plus, open;
    scan_blanks(&s);
    if (!scan_text(&s, "frame #") || !scan_number(&s, 10, &out->number) || !scan_text(&s, ": ") ||
        !scan_find(&s, " (0x", &open))
        return false;
    if (!scan_find(&s, " + 0x", &plus) || plus > open) return false;
    rest = (struct line_scan){ line, plus + 3 };
    if (!scan_hex(&rest, &out->symbol_offset) || rest.at != open) return false;
    rest.at = open + 2;
    if (!scan_hex(&rest, &out->pc) || !scan_text(&rest, " in ") || line.ptr[line.len - 1] != ')') return false;
    out->module = (struct csn_str){ line.ptr + rest.at, line.len - 1 - rest.at };
    if (line.ptr[s.at] != '<') out->symbol = (struct csn_str){ line.ptr + s.at, plus - s.at };
    out->has_symbol_offset = true;
    return out->module.len > 0;
}

/* "[2026-11-22 20:03:23.780][42][critical][backtrace] [./source/server/backtrace.h:104] #1: orders_load [0x7f93bcfd9161]" */
static bool read_envoy(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t at, bracket;
    scan_blanks(&s);
    if (scan_peek(&s) != '#' && scan_find(&s, "backtrace", &at) && scan_find(&s, "] #", &at)) s.at = at + 2;
    if (!scan_char(&s, '#') || !scan_number(&s, 10, &out->number) || !scan_text(&s, ": ")) return false;
    const size_t name = s.at;
    if (!scan_find_last(&s, '[', &bracket) || bracket < name || line.ptr[bracket - 1] != ' ') return false;
    s.at = bracket + 1;
    if (!scan_hex(&s, &out->pc) || !scan_char(&s, ']') || !scan_at_end(&s)) return false;
    if (bracket > name) out->symbol = (struct csn_str){ line.ptr + name, bracket - 1 - name };
    return true;
}

/* " > /opt/app/liborders.so(orders_load+0x9) [0x1161]": of strace, whose number is no pc. It may follow directly, in the output of
 * the program that is traced. */
static bool is_of_strace(struct csn_str line) {
    struct line_scan s = scan_on(line);
    return scan_blanks(&s) && scan_text(&s, "> ");
}

static enum line_kind finish_frame(struct csn_str line, enum line_kind kind, struct line_frame *out) {
    out->value = out->pc;
    if (out->has_symbol_offset && !out->symbol.len) {
        out->site = SITE_LESS_BIAS;
        out->value = out->symbol_offset;
    }
    out->by_maps = true;
    out->usual_base = UNMOVED_BASE;
    out->flags = CSN_STACK_RETURN;
    out->fill_at = out->fill_end = line.len;
    return kind;
}

/* "[0x7f93bcfd9161] (orders_load)": without a file, what was filled in before is a part of the line still. */
static struct csn_str before_filled(struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t at;
    if (line.ptr[line.len - 1] != ')' || !scan_find(&s, "] (", &at)) return line;
    s.at = at + 1;
    scan_filled(&s);
    return scan_at_end(&s) ? (struct csn_str){ line.ptr, at + 1 } : line;
}

static enum line_kind read_glibc_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    size_t bracket;
    (void)state, (void)modules, (void)open;
    line = before_filled(line);
    struct line_scan s = scan_on(line);
    if (line.ptr[line.len - 1] == ')' && read_c10(line, out)) return finish_frame(line, out->number ? KIND_FRAME : KIND_FIRST, out);
    *out = (struct line_frame){ .site = SITE_PC };
    if (line.ptr[line.len - 1] != ']' || !scan_find_last(&s, '[', &bracket) || is_of_strace(line)) return KIND_NONE;
    if (read_faulthandler(line, out)) return finish_frame(line, KIND_FRAME, out);
    *out = (struct line_frame){ .site = SITE_PC };
    if (read_node(line, out)) return finish_frame(line, out->number == 1 ? KIND_FIRST : KIND_FRAME, out);
    *out = (struct line_frame){ .site = SITE_PC };
    if (read_envoy(line, out)) return finish_frame(line, out->number ? KIND_FRAME : KIND_FIRST, out);
    *out = (struct line_frame){ .site = SITE_PC };
    struct line_scan pc = { line, bracket + 1 };
    if (!scan_hex(&pc, &out->pc) || pc.at + 1 != line.len) return KIND_NONE;
    size_t end = bracket;
    if (end && line.ptr[end - 1] == ' ') end--;
    bool in_brackets = end && line.ptr[end - 1] == ')';
    if (in_brackets && !read_bracket((struct csn_str){ line.ptr, end }, out, &end)) return KIND_NONE;
    out->module = program_of((struct csn_str){ line.ptr, end });
    if (!out->module.len && in_brackets) return KIND_NONE;
    if (!in_brackets && !is_alone(line, bracket)) return KIND_NONE;
    return finish_frame(line, KIND_FRAME, out);
}

const struct stack_dialect glibc_dialect = { .name = "glibc", .is_flush = true,
                                             .marks = { MARK_BRACKET_HEX, MARK_NUMBER | MARK_HEX, MARK_OFFSET },
                                             .read = read_glibc_line,
                                             .fill = fill_line_in_brackets };
