/* Reports of AddressSanitizer, ThreadSanitizer and their kin. Every address that they print is that of the call itself,
 * not the return address: the byte before it.
 *
 *     #1 0x5581c0de1139  (/path/app+0x1139) (BuildId: 0102...)     not symbolized
 *     #1 0x5581c0de1139 in main /src/main.cc:12:3                  symbolized
 *     #1 0x5581c0de1139 in main                                    also "in operator delete(void*)", "in malloc _asan_rtl_"
 *     #1 main /src/main.cc:12 (app+0x1139) (BuildId: 0102...)      ThreadSanitizer
 *        #1    0x00005581c0de1139 in main ../main.cc:12 <lib.so>+0x1139      Fuchsia
 *     0x5581c0de0000-0x5581c0df0000 /path/app 0102... (r-xp)       a line of the module map, where it is asked for */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/module_offset.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"
#include "ui/text_bytes.h"

struct sanitizer_state {
    struct inlined_group group; /* of the frame before; symbolized reports repeat its address for inlined calls */
};

/* "/src/main.cc:12:3" of a symbolized line, after its address. */
static bool has_place(struct csn_str line, size_t from) {
    struct line_scan s = { line, from };
    size_t colon;
    uint64_t number;
    while (scan_find(&s, ":", &colon)) {
        s.at = colon + 1;
        if (!scan_number(&s, 10, &number)) continue;
        if (scan_char(&s, ':')) scan_number(&s, 10, &number);
        if (scan_at_part_end(&s)) return true;
    }
    return false;
}

/* "main + 0x9" of stack_trace_format="%n %p in %f + %o": where that ends; 0: it is none. */
static size_t symbol_offset_end(struct line_scan s) {
    uint64_t offset;
    if (!scan_find(&s, " + 0x", &s.at)) return 0;
    s.at += 3;
    return scan_hex(&s, &offset) && (scan_at_end(&s) || is_blank_char(scan_peek(&s))) ? s.at : 0;
}

/* What ends a name outside brackets: a blank, or what quotes the line. */
static bool ends_name(const struct line_scan *s) {
    const char c = scan_peek(s);
    if (is_blank_char(c) || (c && strchr("\",;|\\", c))) return true;
    return has_text_at(s->line, s->at, "</") || has_text_at(s->line, s->at, "<br");
}

/* "operator<<", "operator delete", "->": signs that are no brackets, and a blank that ends no name. */
static void scan_signs(struct line_scan *s) {
    if (scan_text(s, "->") || !scan_text(s, "operator")) return;
    while (!scan_at_end(s) && strchr("<>=-", scan_peek(s))) s->at++;
    scan_char(s, ' ');
}

/* A name of C++ or Rust, which may have blanks in brackets, behind "operator", before "const" and behind what a template returns.
 * False: its brackets do not match, as it was cut. */
static bool scan_name(struct line_scan *s) {
    size_t depth = 0;
    if (!scan_text(s, "void ") && !scan_text(s, "bool ")) scan_text(s, "int ");
    for (scan_signs(s); !scan_at_end(s) && (depth || !ends_name(s)); scan_signs(s)) {
        const char c = scan_peek(s);
        if (c && strchr("<([{", c)) depth++;
        if (c && depth && strchr(">)]}", c)) depth--;
        s->at++;
        if (!depth) scan_text(s, " const");
    }
    return !depth;
}

/* Behind a name: its file, without a line, or what stands for it. */
static void scan_file(struct line_scan *s) {
    struct line_scan file = *s;
    struct csn_str word;
    if (scan_text(s, " <unknown>") || scan_text(s, " _asan_rtl_") || !scan_char(&file, ' ')) return;
    if (scan_peek(&file) == '/') {
        while (!scan_at_end(&file) && !strchr(" \t\"'`,;<|\\", scan_peek(&file))) file.at++;
        s->at = file.at;
    } else if (scan_word(&file, &word) && scan_at_end(&file) && word.ptr[0] != '(' && memchr(word.ptr, '.', word.len - 1)) {
        s->at = file.at; /* "url/gurl.cc" */
    }
}

/* "closure #1 () -> () in main": more words than a name of C++ has. A note cannot be told from them, so that the line stays. */
static bool goes_on(struct line_scan s) {
    return scan_char(&s, ' ') && !scan_at_end(&s) && !strchr("<(", scan_peek(&s));
}

/* Without a module: where the parts of the frame end that a name replaces. */
static size_t end_without_module(const struct line_scan *s, struct line_frame *out) {
    static const char *const unknown[] = { " (<unknown module>)", " <null>", " ??:" };
    struct line_scan at = *s;
    struct csn_str name;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        struct line_scan place = *s;
        if (!scan_find(s, unknown[i], &place.at)) continue;
        place.at += strlen(unknown[i]);
        scan_word(&place, &name);
        return place.at;
    }
    if (!scan_text(&at, " in")) return s->at;
    if (!scan_char(&at, ' ')) return at.at;
    const size_t end = symbol_offset_end(at);
    if (end) return end;
    const bool is_whole = scan_name(&at);
    scan_file(&at);
    out->is_complete = !is_whole || goes_on(at);
    return at.at;
}

/* Whether the frame that the line before begins has this call, too. */
static bool is_inlined(struct sanitizer_state *state, struct csn_str line, bool open, const struct line_frame *out) {
    const struct csn_str rest = { line.ptr + out->fill_at, line.len - out->fill_at };
    const uint64_t place = out->pc ? out->pc : out->value + inlined_name_hash(out->module);
    return inlined_group_goes_on(&state->group, open && out->number, place, rest);
}

static enum line_kind read_frame(struct line_scan *s, struct line_frame *out) {
    out->number_at = s->at;
    if (!scan_number(s, 10, &out->number)) return KIND_NONE;
    out->number_end = s->at;
    if (!scan_blanks(s)) return KIND_NONE;
    bool has_pc = scan_hex(s, &out->pc);
    out->fill_at = has_pc ? s->at : s->at - 1;
    out->fill_end = end_without_module(s, out);
    out->flags = CSN_STACK_BEFORE;
    struct line_scan named = *s;
    if (find_module_part(s, out)) {
        out->is_complete = false;
        if (scan_text(&named, " in ")) scan_word(&named, &out->symbol);
    } else {
        if (!has_pc) return KIND_NONE;
        out->site = SITE_PC;
        out->value = out->pc;
    }
    return out->number ? KIND_FRAME : KIND_FIRST;
}

/* "0x7f0000000000-0x7f0000001000 /path" of "Process memory map" or "Process module map". */
static enum line_kind read_map(struct stack_modules *modules, struct line_scan *s) {
    uint64_t start, end;
    struct module_names names = { .name = { "", 0 } };
    if (!scan_hex(s, &start) || !scan_char(s, '-') || !scan_hex(s, &end) || !scan_blanks(s)) return KIND_NONE;
    size_t bracket = s->line.len;
    scan_find(s, " (", &bracket);
    names.name = (struct csn_str){ s->line.ptr + s->at, bracket - s->at };
    if (end < start || !names.name.len || names.name.ptr[0] != '/') return KIND_NONE;
    while (names.name.ptr[names.name.len - 1] == ' ') names.name.len--;
    size_t word = names.name.len; /* the last one is an id, or else of the path */
    while (names.name.ptr[word - 1] != ' ' && names.name.ptr[word - 1] != '/') word--;
    if (names.name.ptr[word - 1] == ' ' &&
        build_id_parse((struct csn_str){ names.name.ptr + word, names.name.len - word }, &names.id))
        names.name.len = word - 1;
    stack_modules_add_image(modules, &names, start, end);
    return KIND_CONTEXT;
}

/* Whether the address has as many digits as gdb fills it up to. Sanitizers have fewer. */
static bool has_full_width(struct line_scan s) {
    enum { FULL_WIDTH = 16 };
    size_t digits = 0;
    scan_text(&s, "0x");
    while (!scan_at_end(&s) && scan_digit_value(scan_peek(&s)) < 16) s.at++, digits++;
    return digits == FULL_WIDTH;
}

/* "f ()", "f(int) ()", "f (arg=1)" of gdb, but not "g(void () block)". */
static bool has_gdbs_arguments(struct line_scan s) {
    return scan_name(&s) && scan_text(&s, " (") && gdb_begins_arguments(&s);
}

/* Of "in main /src/main.cc:12": what follows the name, if anything does. */
static bool is_symbolized(struct line_scan s) {
    struct line_frame module = { .site = SITE_PC };
    size_t at;
    if (find_module_part(&s, &module) || has_place(s.line, s.at) || symbol_offset_end(s)) return true;
    return scan_find(&s, " ??:", &at) || scan_find(&s, " <null>", &at) || scan_find(&s, " (<unknown module>)", &at);
}

/* " in main", perhaps with a place, after the address. `is_wide`: that is as gdb writes it. */
static bool has_sanitizers_name(struct line_scan s, bool is_wide, bool indented) {
    struct csn_str word;
    size_t at;
    if (!scan_text(&s, " in") || (!scan_at_end(&s) && !scan_char(&s, ' '))) return false;
    if (scan_find(&s, ") at ", &at) || scan_find(&s, ") from ", &at)) return false; /* gdb's */
    if (is_symbolized(s)) return true;
    if (!is_wide) return !has_gdbs_arguments(s);
    return indented && scan_word(&s, &word) && scan_at_end(&s);
}

/* Of a frame, after the '#'. Others print return addresses alike: LLVM's tools "#1 0x00005581c0de1139 main (/path/app+0x1139)",
 * gdb "#10 0x00005581c0de1139 in main (argc=1) at main.c:12"; and how far a line is indented tells nothing, as mails and logs have
 * any of them. Sanitizers do not fill addresses up to 16 digits, but for Fuchsia's, which has three blanks or more before them: nor
 * do versions of 2012, which had one blank before the module, where Chromium has it, too, whose frames begin with the line. */
static bool is_sanitizers(struct line_scan s, bool indented) {
    struct line_frame module = { .site = SITE_PC };
    uint64_t number;
    if (!scan_number(&s, 10, &number) || !scan_char(&s, ' ')) return false;
    if (scan_text(&s, "  ")) {
        scan_blanks(&s);
        return scan_hex(&s, &number) && has_sanitizers_name(s, false, indented);
    }
    const bool is_old = indented && !has_text_at(s.line, s.at, "0x0000"), is_wide = has_full_width(s);
    if (!scan_hex(&s, &number)) return find_module_part(&s, &module); /* ThreadSanitizer's */
    if (has_text_at(s.line, s.at, "  (") || (is_old && has_text_at(s.line, s.at, " (")))
        return scan_text(&s, "  (<unknown module>)") || find_module_part(&s, &module);
    return has_sanitizers_name(s, is_wide, indented);
}

static enum line_kind read_sanitizer_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                          struct line_frame *out) {
    struct line_scan s = scan_on(line);
    scan_blanks(&s);
    bool indented = s.at > 1 || (s.at && line.ptr[0] == '\t');
    out->by_maps = true;
    if (!scan_char(&s, '#')) return read_map(modules, &s);
    const enum line_kind kind = is_sanitizers(s, indented) ? read_frame(&s, out) : KIND_NONE;
    return kind != KIND_NONE && is_inlined(state, line, open, out) ? KIND_INSIDE : kind;
}

/* " in main /src/main.cc:12"; an inlined call is a line of its own, with a number of its own, as asan_symbolize
 * writes them. Without a line, the module stays. What the sanitizer symbolized itself stays, too. */
static void fill_sanitizer(struct line_filler *f) {
    const char *const before = f->at->pc ? " in " : " ";
    if (f->at->is_complete || has_place(f->text, f->at->fill_at) || fill_is_expanded(f, before)) {
        fill_numbered_line(f);
        return;
    }
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        fill_numbered(f, k, f->at->fill_at);
        out_text(f->out, before);
        fill_name(f, k);
        if (fill_has_file(f, k)) {
            out_char(f->out, ' ');
            fill_file(f, k, false);
        }
        if ((!fill_has_file(f, k) || !f->at->pc) && f->at->module.len) {
            out_char(f->out, ' ');
            fill_part(f, (size_t)(f->at->module.ptr - f->text.ptr) - 1, f->at->fill_end); /* ThreadSanitizer always names it */
        }
        fill_rest_of_line(f, k);
    }
}

const struct stack_dialect sanitizer_dialect = { .name = "sanitizer", .marks = { MARK_HASH, MARK_START_HEX },
                                                 .state_size = sizeof(struct sanitizer_state), .read = read_sanitizer_line,
                                                 .fill = fill_sanitizer };
