/* Stacks of Microsoft's debuggers (`k`, `kb`, `kn`, `kp`, `kv` of WinDbg, cdb and kd, STACK_TEXT of `!analyze`), and of
 * MSVC's std::stacktrace.
 *
 *     # Child-SP          RetAddr               Call Site
 *     00 000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line+0x12 [C:\src\orders.c @ 15]
 *     000000ab`cdeff5d8 00007ff6`12341461 : 00000000`00000005 00000000`00000000 : orders!main+0x21
 *     0c (Inline Function) --------`--------     orders!check+0x5 [C:\src\orders.c @ 9]
 *     ba50bc74 990c851f 862ecc08 e13cf65c ba50bd54 orders+0x3284 (FPO: [2,1,4])           32 bits; no symbols
 *     000000ab`cdeff608 00000000`00000000     0x00007ff6`12341461
 *     0> C:\src\orders.cpp(12): orders!main+0x1A                                          MSVC
 *     ModLoad: 00007ff6`12340000 00007ff6`12346000   C:\app\orders.exe
 *     00007ff6`12340000 00007ff6`12346000   orders     (deferred)                         `lm`
 *     01        30 000000ab`cdeff5d8 00007ff6`12341161     orders!main+0x21                  `kf`: bytes of the frame
 *     00 000000ab`cdeff5a8 00007ff6`12341161     orders!parse_line(                          `kP`: a parameter a line
 *                     char * text = 0x000000ab`cdeff610 "x",
 *                     int size = 0n5)+0x12
 *
 * A row's RetAddr is the address of the row below it. Numbers of rows are hexadecimal. */
#define _GNU_SOURCE
#include <string.h>

#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"
#include "ui/text_bytes.h"

enum { SITE_SIZE = 1024 };

struct windbg_state {
    uint64_t returns_to; /* of the row before; 0: it did not have that */
    /* A row whose parameters follow, a line each: */
    char site[SITE_SIZE];
    size_t site_size;    /* 0: there is none */
    uint64_t number;
    bool first;
};

/* "00007ff6`12341161" or "ba50bc74" */
static bool read_debugger_address(struct line_scan *s, uint64_t *out) {
    struct line_scan at = *s;
    uint64_t low;
    if (!scan_number(&at, 16, out) || at.at - s->at != 8) return false;
    const size_t middle = at.at + 1;
    if (scan_char(&at, '`')) {
        if (!scan_number(&at, 16, &low) || at.at - middle != 8) return false;
        *out = *out << 32 | low;
    }
    *s = at;
    return true;
}

/* The columns before the call site, and the blanks after them. */
static bool read_columns(struct line_scan *s, uint64_t *returns_to) {
    uint64_t value;
    size_t count = 0;
    bool in_args = false;
    *returns_to = 0;
    while (read_debugger_address(s, &value)) {
        if (!in_args && count < 2) *returns_to = value;
        count++;
        if (!scan_blanks(s)) return false;
        if (!scan_text(s, ": ")) continue;
        in_args = true;
        scan_blanks(s);
    }
    return count > 1 || in_args;
}

/* "0x1161", "0x1A", or "0x00007ff6`12341461" */
static bool read_debugger_hex(struct line_scan *s, uint64_t *out) {
    struct line_scan high = *s;
    if (scan_text(&high, "0x") && read_debugger_address(&high, out) && high.at - s->at > 10) {
        *s = high;
        return true;
    }
    return scan_hex(s, out);
}

/* Of "orders!Shop::price(int)+0x12 [C:\src\orders.c @ 15]": the offset's place, which the last "+0x" before the file tells. */
static bool find_offset(struct csn_str site, size_t *plus) {
    struct line_scan s = scan_on(site);
    size_t file, at;
    if (scan_find(&s, " [", &file)) s.line.len = file;
    bool found = false;
    while (scan_find(&s, "+0x", &at)) {
        *plus = at;
        s.at = at + 1;
        found = true;
    }
    return found;
}

/* Of the symbol that begins at `from`: where what `kp` prints of its arguments begins, or `stop`. Brackets of
 * "operator()", of a return type and of the function that another one is within are the name's. */
static size_t arguments_start(struct csn_str site, size_t from, size_t stop) {
    static const char operator_word[] = "operator()", decltype_word[] = "decltype(";
    for (size_t at = from; at < stop; at++) {
        const size_t before = at - from;
        if (site.ptr[at] != '(') continue;
        struct line_scan word = { site, before >= 8 ? at - 8 : at };
        const bool is_name = scan_text(&word, operator_word) || scan_text(&word, decltype_word);
        struct line_scan rest = { site, brackets_end(site, at, '(', ')') };
        if (!is_name && !scan_text(&rest, "::") && !scan_text(&rest, " const::")) return before ? at : stop;
        at = rest.at - 1;
    }
    return stop;
}

/* "orders!parse_line+0x12", "orders!main", "orders+0x3284" */
static bool read_named_site(struct csn_str line, size_t from, struct line_frame *out) {
    struct csn_str site = { line.ptr + from, line.len - from };
    struct line_scan s = scan_on(site);
    size_t end = 0, plus = 0, args;
    while (end < site.len && !strchr(" !+([", site.ptr[end])) end++;
    out->module = (struct csn_str){ site.ptr, end };
    if (!end || end == site.len) return false;
    const bool has_offset = find_offset(site, &plus);
    out->value = 0;
    s.at = plus + 1;
    if (has_offset && !read_debugger_hex(&s, &out->value)) return false;
    if (site.ptr[end] == '+') {
        out->site = SITE_OFFSET;
        return has_offset && plus == end;
    }
    if (site.ptr[end] != '!') return false;
    s.at = end + 1;
    size_t stop = has_offset ? plus : site.len;
    if (scan_find(&s, " [", &args) && args < stop) stop = args;
    if (scan_find(&s, " (FPO", &args) && args < stop) stop = args;
    stop = arguments_start(site, s.at, stop);
    out->symbol = (struct csn_str){ site.ptr + s.at, stop - s.at };
    out->site = SITE_SYMBOL;
    return out->symbol.len && !memchr(out->symbol.ptr, '\t', out->symbol.len);
}

/* "orders!parse_line(": its parameters and the offset follow. */
static bool begins_parameters(struct csn_str line, size_t from) {
    size_t end = line.len;
    while (end > from && is_blank_char(line.ptr[end - 1])) end--;
    return end > from + 1 && line.ptr[end - 1] == '(' && memchr(line.ptr + from, '!', end - from);
}

static bool read_site(struct csn_str line, size_t from, struct line_frame *out) {
    struct line_scan s = { line, from };
    out->fill_at = out->fill_end = line.len;
    if (!read_debugger_hex(&s, &out->value)) return read_named_site(line, from, out);
    out->pc = out->value;
    out->by_maps = true;
    return scan_at_end(&s);
}

/* "ModLoad: 00007ff6`12340000 00007ff6`12346000   C:\app\orders.exe" */
static bool read_module_load(struct stack_modules *modules, struct line_scan *s) {
    struct module_names names = { .name = { "", 0 } };
    uint64_t start, end;
    if (!scan_text(s, "ModLoad: ") || !read_debugger_address(s, &start) || !scan_blanks(s) ||
        !read_debugger_address(s, &end))
        return false;
    if (!scan_blanks(s) || scan_at_end(s) || end <= start) return false;
    names.name = scan_rest(s);
    stack_modules_add_image(modules, &names, start, end);
    return true;
}

static bool is_blank_or_flag(char c) { return is_blank_char(c) || (c >= 'A' && c <= 'Z'); }

/* "orders!main", "orders+0x12": of a stack. */
static bool names_place(struct csn_str text) { return memchr(text.ptr, '!', text.len) || memchr(text.ptr, '+', text.len); }

/* "00007ff6`12340000 00007ff6`12346000   orders   C (deferred)", a row of `lm`. Modules that were unloaded have no
 * state in brackets. */
static bool read_module_row(struct stack_modules *modules, struct line_scan *s) {
    struct module_names names = { .name = { "", 0 } };
    uint64_t start, end;
    size_t bracket;
    if (!read_debugger_address(s, &start) || !scan_blanks(s) || !read_debugger_address(s, &end) || !scan_blanks(s)) return false;
    const struct csn_str rest = scan_rest(s);
    struct line_scan name = scan_on(rest);
    if (end <= start || !scan_find(&name, " (", &bracket)) return false;
    while (name.at < bracket && !is_blank_char(rest.ptr[name.at])) name.at++;
    names.name = (struct csn_str){ rest.ptr, name.at };
    while (name.at < bracket && is_blank_or_flag(rest.ptr[name.at])) name.at++;
    if (name.at != bracket || !names.name.len || names_place(names.name)) return false;
    stack_modules_add_image(modules, &names, start, end);
    return true;
}

/* "0> C:\src\orders.cpp(12): orders!main+0x1A", "1> orders!main+0x1A" */
static bool read_msvc(struct csn_str line, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t place;
    if (!scan_number(&s, 10, &out->number) || !scan_text(&s, "> ")) return false;
    if (scan_find(&s, "): ", &place)) s.at = place + 3;
    out->flags = CSN_STACK_RETURN;
    return read_site(line, s.at, out) && out->site != SITE_PC;
}

/* "0c " before the columns */
static bool read_row_number(struct line_scan *s, uint64_t *out) {
    struct line_scan at = *s;
    uint64_t number;
    scan_blanks(&at);
    const size_t from = at.at;
    if (!scan_number(&at, 16, &number) || at.at - from > 3 || !scan_blanks(&at)) return false;
    *s = at;
    *out = number;
    return true;
}

/* "      30 ", bytes of the frame, in the column before Child-SP. */
static void skip_memory(struct line_scan *s) {
    struct line_scan at = *s;
    uint64_t value;
    scan_blanks(&at);
    const size_t from = at.at;
    if (!scan_number(&at, 16, &value) || at.at - from > 6 || !scan_blanks(&at)) return;
    struct line_scan column = at;
    if (read_debugger_address(&column, &value)) *s = at;
}

static bool is_remark(struct csn_str line) {
    struct line_scan s = scan_on(line);
    size_t at;
    return scan_text(&s, "WARNING: ") || scan_text(&s, "*** ") || scan_find(&s, "(Inline", &at);
}

static void set_place(struct windbg_state *windbg, bool open, struct line_frame *out) {
    if (!windbg->first && open && windbg->returns_to && out->site == SITE_OFFSET) out->pc = windbg->returns_to;
    if (windbg->number || !windbg->first) out->flags = CSN_STACK_RETURN;
}

static void keep_row(struct windbg_state *windbg, struct csn_str line, size_t from) {
    const size_t end = (size_t)((const char *)memrchr(line.ptr, '(', line.len) - line.ptr);
    windbg->site_size = end - from < SITE_SIZE ? end - from : 0;
    memcpy(windbg->site, line.ptr + from, windbg->site_size);
}

/* A line of the parameters of a row: all but the last one end in a comma. */
static enum line_kind read_parameters(struct windbg_state *windbg, struct csn_str line, bool open, struct line_frame *out) {
    const struct csn_str site = { windbg->site, windbg->site_size };
    size_t end = line.len, plus;
    while (end && is_blank_char(line.ptr[end - 1])) end--;
    const bool goes_on = end && line.ptr[end - 1] == ',';
    if (!end || !is_blank_char(line.ptr[0])) windbg->site_size = 0;
    if (!windbg->site_size) return KIND_NONE;
    if (goes_on) return open && !windbg->first ? KIND_INSIDE : KIND_CONTEXT;
    windbg->site_size = 0;
    *out = (struct line_frame){ .site = SITE_PC };
    if (!read_named_site(site, 0, out) || out->site != SITE_SYMBOL) return KIND_NONE;
    if (find_offset(line, &plus)) {
        struct line_scan s = { line, plus + 1 };
        if (!read_debugger_hex(&s, &out->value)) return KIND_NONE;
    }
    out->fill_at = out->fill_end = line.len;
    set_place(windbg, open, out);
    return windbg->first ? KIND_FIRST : KIND_FRAME;
}

static enum line_kind read_windbg_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                       struct line_frame *out) {
    struct windbg_state *windbg = state;
    struct line_scan s = scan_on(line), row = s;
    uint64_t returns_to, number = 0;
    if (windbg->site_size) {
        const enum line_kind kind = read_parameters(windbg, line, open, out);
        if (kind != KIND_NONE) return kind;
    }
    if (read_module_load(modules, &s) || read_module_row(modules, &row)) return KIND_CONTEXT;
    if (read_msvc(line, out)) return out->number ? KIND_FRAME : KIND_FIRST;
    *out = (struct line_frame){ .site = SITE_PC };
    const bool numbered = read_row_number(&s, &number);
    skip_memory(&s);
    scan_blanks(&s);
    if (open && is_remark(line)) return KIND_INSIDE;
    if (!read_columns(&s, &returns_to)) return KIND_NONE;
    const bool begins = begins_parameters(line, s.at);
    if (!begins && !read_site(line, s.at, out)) return KIND_NONE;
    windbg->first = numbered ? !number : !open;
    windbg->number = number;
    if (begins) keep_row(windbg, line, s.at);
    else set_place(windbg, open, out);
    windbg->returns_to = returns_to;
    if (begins) return open && !windbg->first ? KIND_INSIDE : KIND_CONTEXT;
    return windbg->first ? KIND_FIRST : KIND_FRAME;
}

/* The debugger had the file: there is nothing to add. */
static void fill_windbg(struct line_filler *f) {
    struct line_scan s = scan_on(f->text);
    size_t at;
    const bool has_file = (scan_find(&s, " [", &at) && scan_find(&s, " @ ", &at)) || scan_find(&s, "): ", &at);
    if (has_file) fill_nothing(f);
    else fill_line_in_brackets(f);
}

const struct stack_dialect windbg_dialect = { .name = "windbg", .is_flush = true,
                                              .marks = { MARK_OFFSET, MARK_VALUE, MARK_ADDRESS },
                                              .state_size = sizeof(struct windbg_state), .read = read_windbg_line,
                                              .fill = fill_windbg };
