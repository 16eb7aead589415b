/* A place in the text of perf: a number, perhaps a symbol, perhaps an image in brackets, which may be one of the kernel. */
#include "stack/dialects/perf_frame.h"

#include <string.h>

#include <callsign/symbolicate.h>

#include "input/module_names.h"

bool perf_is_guest_kernel(struct csn_str module) {
    static const char guest[] = "[guest.kernel";
    return module.len >= sizeof(guest) - 1 && memcmp(module.ptr, guest, sizeof(guest) - 1) == 0;
}

bool perf_is_kernel(struct csn_str module) {
    static const char open[] = "[kernel";
    return (module.len >= sizeof(open) - 1 && memcmp(module.ptr, open, sizeof(open) - 1) == 0) || perf_is_guest_kernel(module);
}

struct csn_str perf_kernel_module(struct csn_str image) {
    const char *close = image.len ? memchr(image.ptr, ']', image.len) : NULL;
    if (!perf_is_guest_kernel(image)) return CSN_STR("vmlinux");
    return close ? (struct csn_str){ image.ptr, (size_t)(close + 1 - image.ptr) } : image;
}

void perf_frame_read_offset(struct line_frame *out) {
    struct line_scan s = scan_on(out->module);
    size_t plus;
    uint64_t offset;
    if (!scan_find_last(&s, '+', &plus) || !plus) return;
    s.at = plus + 1;
    if (!scan_hex(&s, &offset) || !scan_at_end(&s)) return;
    out->module.len = plus;
    if (out->module.ptr[0] == '/') out->value = offset;
}

bool perf_frame_read(struct line_scan *s, struct line_frame *out) {
    size_t close, open, symbol_from, plus;
    if (!scan_number(s, 16, &out->value) || !scan_char(s, ' ')) return false;
    symbol_from = s->at;
    struct csn_str line = s->line;
    while (line.len && line.ptr[line.len - 1] == ' ') line.len--;
    if (!line.len || line.ptr[line.len - 1] != ')') return false;
    close = line.len - 1;
    struct line_scan rest = { { line.ptr, close }, symbol_from };
    if (!scan_find_last(&rest, '(', &open)) return false;
    struct line_scan path = { { line.ptr, close }, symbol_from };
    size_t slash;
    if (scan_find(&path, " (/", &slash)) open = slash + 1;
    struct line_scan unnamed = { { line.ptr, close }, symbol_from };
    if (scan_text(&unnamed, "(/")) open = symbol_from;
    if (open < symbol_from || line.ptr[open - 1] != ' ') return false;
    out->module = (struct csn_str){ line.ptr + open + 1, close - open - 1 };
    out->symbol = (struct csn_str){ line.ptr + symbol_from, open > symbol_from ? open - 1 - symbol_from : 0 };
    struct line_scan name = { { line.ptr, open - 1 }, symbol_from };
    if (open > symbol_from && scan_find_last(&name, '+', &plus)) {
        struct line_scan offset = { name.line, plus + 1 };
        out->symbol.len = plus - symbol_from;
        out->has_symbol_offset = scan_hex(&offset, &out->symbol_offset) && scan_at_end(&offset);
        if (!out->has_symbol_offset && scan_number(&offset, 10, &out->symbol_offset) && scan_at_end(&offset)) return false; /* bpftrace */
    }
    out->fill_at = symbol_from;
    out->fill_end = open - 1;
    out->pc = out->value;
    s->at = line.len;
    perf_frame_read_offset(out);
    return out->module.len > 0;
}

/* "area+0x19 (/pat" at the end of a text that was cut. In names, a bracket that opens behind a blank is closed. */
static bool is_cut_in_image(struct csn_str symbol) {
    struct line_scan s = scan_on(symbol);
    size_t open, close;
    if (!scan_find_last(&s, '(', &open) || !open || symbol.ptr[open - 1] != ' ') return false;
    return !scan_find_last(&s, ')', &close) || close < open;
}

bool perf_frame_read_without_image(struct line_scan *s, struct line_frame *out) {
    enum { COLUMNS = 16 };
    *out = (struct line_frame){ .site = SITE_PC };
    if (!scan_number(s, 16, &out->value) || s->at < COLUMNS + 1) return false;
    out->fill_at = out->fill_end = s->at;
    if (!scan_char(s, ' ')) return scan_at_end(s);
    struct line_scan name = *s;
    size_t plus;
    out->fill_at = s->at;
    out->fill_end = s->line.len;
    out->symbol = scan_rest(s);
    if (is_cut_in_image(out->symbol)) return false;
    if (scan_find_last(&name, '+', &plus)) {
        struct line_scan offset = { name.line, plus + 1 };
        out->has_symbol_offset = scan_hex(&offset, &out->symbol_offset) && scan_at_end(&offset);
        if (out->has_symbol_offset) out->symbol.len = plus - s->at;
        else if (scan_number(&offset, 10, &out->symbol_offset) && scan_at_end(&offset)) return false; /* bpftrace */
    }
    if (out->symbol.len && out->symbol.ptr[0] == '[') out->symbol.len = 0;
    out->pc = out->value;
    return true;
}

/* The name of a kernel's module, of "[nf_tables]" or "/lib/modules/6.1/nf_tables.ko.xz". */
static bool kernel_module_name(struct csn_str module, struct csn_str *out) {
    static const char suffix[] = ".ko";
    if (module.len > 2 && module.ptr[0] == '[' && module.ptr[module.len - 1] == ']') {
        *out = (struct csn_str){ module.ptr + 1, module.len - 2 };
        return true;
    }
    *out = base_name_of(module);
    for (size_t i = 1; i + sizeof(suffix) - 1 <= out->len; i++) {
        if (memcmp(out->ptr + i, suffix, sizeof(suffix) - 1) != 0) continue;
        out->len = i;
        return true;
    }
    return false;
}

bool perf_is_vmlinux(struct csn_str module) {
    static const char name[] = "vmlinux";
    struct csn_str base = base_name_of(module);
    return base.len >= sizeof(name) - 1 && memcmp(base.ptr, name, sizeof(name) - 1) == 0;
}

bool perf_frame_is_in_file(const struct line_frame *frame) {
    struct csn_str name;
    return frame->module.len && frame->module.ptr[0] == '/' && !(frame->value >> 63) && !perf_is_vmlinux(frame->module)
           && !kernel_module_name(frame->module, &name);
}

void perf_frame_place(struct line_frame *out, bool in_chain) {
    bool is_file = out->module.len && out->module.ptr[0] == '/', is_high = out->value >> 63;
    struct csn_str name;
    out->image = out->module;
    if (is_word(out->symbol, "[unknown]")) out->symbol.len = 0;
    out->site = in_chain && is_file ? SITE_FILE_OFFSET : SITE_PC;
    out->flags = in_chain ? CSN_STACK_EITHER : CSN_STACK_EXACT;
    if (perf_is_kernel(out->module) || (is_high && (!out->module.len || perf_is_vmlinux(out->module)))) {
        out->module = perf_kernel_module(out->module);
        out->site = SITE_ADDRESS;
    } else if (is_high && out->has_symbol_offset && kernel_module_name(out->module, &name)) {
        out->module = name;
        out->value = out->symbol_offset;
        out->site = SITE_SYMBOL;
    }
}

bool perf_find_padded_address(struct csn_str line, size_t from, size_t *out) {
    enum { COLUMNS = 16, DIGITS_MIN = 5 };
    for (size_t at = from; at < line.len; at++) {
        size_t end = at, blank = at;
        while (end < line.len && scan_digit_value(line.ptr[end]) < 16) end++;
        if (end - at >= DIGITS_MIN && end >= COLUMNS && (end == line.len || line.ptr[end] == ' ')) {
            while (blank && line.ptr[blank - 1] == ' ') blank--;
            *out = at;
            if (end - blank >= COLUMNS) return true;
        }
        while (end < line.len && line.ptr[end] != ' ') end++;
        for (at = end; at + 1 < line.len && line.ptr[at + 1] == ' ';) at++;
    }
    return false;
}

static bool is_number(struct csn_str word, int base) {
    struct line_scan s = scan_on(word);
    uint64_t value;
    return scan_number(&s, base, &value) && scan_at_end(&s);
}

/* A physical address, a byte of the instruction, "4K", "N/A", "insn:", "ilen:", a control group, "ABI:2", "AX:0x10". */
static bool is_behind_image(struct csn_str word) {
    const char last = word.ptr[word.len - 1];
    const char *colon = memchr(word.ptr, ':', word.len);
    if (is_word(word, "insn:") || is_word(word, "ilen:")) return true;
    if (is_number(word, 16) || word.ptr[0] == '/' || is_word(word, "N/A")) return true;
    if (word.len > 1 && strchr("BKMGT", last)) return is_number((struct csn_str){ word.ptr, word.len - 1 }, 10);
    if (!colon) return false;
    struct csn_str value = { colon + 1, word.len - (size_t)(colon + 1 - word.ptr) };
    if (value.len > 2 && memcmp(value.ptr, "0x", 2) == 0) value = (struct csn_str){ value.ptr + 2, value.len - 2 };
    return is_number(value, 16);
}

struct csn_str perf_without_rest(struct csn_str line) {
    struct csn_str text = line;
    for (;;) {
        while (text.len && text.ptr[text.len - 1] == ' ') text.len--;
        if (!text.len) return line;
        if (text.ptr[text.len - 1] == ')') return text;
        size_t from = text.len;
        while (from && text.ptr[from - 1] != ' ') from--;
        if (!is_behind_image((struct csn_str){ text.ptr + from, text.len - from })) return line;
        text.len = from;
    }
}

/* The last address in 16 columns from `from` on that is a place, up to the end of the line: -F addr, data_src and weight stand before
 * it. */
static bool read_last_place(struct csn_str text, size_t from, bool has_image, bool may_lack_image, struct line_frame *out,
                            size_t *out_at) {
    bool found = false;
    for (size_t at = from; perf_find_padded_address(text, at, &at); at++) {
        struct line_scan s = { text, at };
        struct line_frame frame = { .site = SITE_PC };
        bool good = has_image && perf_frame_read(&s, &frame) && strchr("/[", frame.module.ptr[0]);
        if (!good && may_lack_image) good = (s.at = at, perf_frame_read_without_image(&s, &frame));
        if (!good) continue;
        *out = frame;
        *out_at = at;
        found = true;
    }
    return found;
}

bool perf_frame_read_single(struct line_scan *s, struct line_frame *out) {
    size_t last;
    for (size_t at = s->line.len; at > s->at + 2; at--) {
        if (s->line.ptr[at - 1] != ' ' || s->line.ptr[at - 2] != ':') continue;
        struct line_scan frame = { s->line, at };
        if (read_last_place(s->line, at, true, false, out, &last)) return true;
        scan_blanks(&frame);
        return perf_frame_read(&frame, out);
    }
    return false;
}

bool perf_frame_read_unheaded(struct csn_str line, bool has_maps, struct line_frame *out, size_t *out_at) {
    struct csn_str text = perf_without_rest(line);
    bool has_image = text.len && text.ptr[text.len - 1] == ')';
    return (has_image || has_maps) && read_last_place(text, 0, has_image, has_maps, out, out_at);
}

bool perf_is_inlined(struct csn_str module) { return is_word(module, "inlined"); }
