/* The backtraces of Swift's run-time library since 5.9.
 *
 *      0                  0x00005653fe21127b on_check in orders
 *      1 [ra]             0x00005653fe211461 main + 33 in orders
 *      1 [inlined]        0x00005653fe211461 App.run() in orders at /src/orders.swift:5:3
 *      2 [ra]             0x00007f8fe404c13b                                 nothing is known
 *      3 [ra] [system]    0x00007f8fe3e8124a __libc_start_call_main + 121 in libc.so.6
 *
 * The images, which csn_process_maps_add_report_line() reads, follow. Lines of inlined calls belong to the frame after them. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"

struct swift_attributes {
    bool returns, inlined;
};

/* "[ra] [inlined] [system]" */
static struct swift_attributes read_attributes(struct line_scan *s) {
    struct swift_attributes out = { false, false };
    for (;;) {
        scan_blanks(s);
        if (scan_text(s, "[ra]")) out.returns = true;
        else if (scan_text(s, "[inlined]")) out.inlined = true;
        else if (!scan_text(s, "[system]") && !scan_text(s, "[thunk]") && !scan_text(s, "[async]")) return out;
    }
}

/* "main + 33 in orders at /src/orders.swift:5:3" */
static bool read_swift_function(struct line_scan *s, struct line_frame *out) {
    size_t in, at, plus;
    if (!scan_find(s, " in ", &in)) return false;
    struct csn_str name = { s->line.ptr + s->at, in - s->at };
    struct line_scan symbol = scan_on(name), image = { s->line, in + 4 };
    if (!scan_word(&image, &out->module)) return false;
    if (scan_find(&symbol, " + ", &plus)) {
        symbol.at = plus + 3;
        out->has_symbol_offset = scan_number(&symbol, 10, &out->symbol_offset) && scan_at_end(&symbol);
        name.len = plus;
    }
    if (name.len && name.ptr[0] != '<') out->symbol = name;
    out->fill_at = out->fill_end = scan_find(&image, " at /", &at) ? s->line.len : image.at;
    return scan_at_end(&image) || scan_text(&image, " at ") || scan_text(&image, " (");
}

/* "0x00005653fe210000-0x00005653fe215000 7505fee7  orders  /opt/app/orders", with U+2013 */
static bool read_swift_image(struct stack_modules *modules, struct csn_str line) {
    struct line_scan s = scan_on(line);
    uint64_t start;
    return scan_hex(&s, &start) && scan_text(&s, "\xe2\x80\x93") && stack_modules_add_any_line(modules, line);
}

static enum line_kind read_swift_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                      struct line_frame *out) {
    struct line_scan s = scan_on(line);
    (void)state;
    if (read_swift_image(modules, line)) return KIND_CONTEXT;
    scan_blanks(&s);
    if (!scan_number(&s, 10, &out->number) || scan_peek(&s) != ' ') return KIND_NONE;
    const struct swift_attributes attributes = read_attributes(&s);
    if (!scan_hex(&s, &out->pc)) return KIND_NONE;
    out->fill_at = out->fill_end = line.len;
    const bool is_bare = scan_at_end(&s) && (open || attributes.returns);
    if (!is_bare && (!scan_char(&s, ' ') || !read_swift_function(&s, out))) return KIND_NONE;
    if (attributes.inlined) return KIND_INSIDE;
    out->value = out->pc;
    out->by_maps = true;
    out->flags = attributes.returns ? CSN_STACK_RETURN : CSN_STACK_EXACT;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

/* What has a file has nothing to be filled in. */
static void fill_swift(struct line_filler *f) {
    struct line_scan s = scan_on(f->text);
    size_t at, bracket;
    const bool has_file = scan_find(&s, " at /", &at) && !(scan_find(&s, " (", &bracket) && bracket < at);
    if (has_file) fill_nothing(f);
    else fill_line_in_brackets(f);
}

const struct stack_dialect swift_dialect = { .name = "swift", .marks = { MARK_NUMBER | MARK_HEX, MARK_START_HEX },
                                             .read = read_swift_line, .fill = fill_swift };
