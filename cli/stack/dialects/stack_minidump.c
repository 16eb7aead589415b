/* The text of minidump_stackwalk (Breakpad) and minidump-stackwalk (Rust), and Breakpad's lines for machines (-m).
 *
 *      0  liborders.so!orders_load [liborders.c : 21 + 0x4]       complete
 *      1  liborders.so + 0x1161
 *         rsp = 0x00007ffd8d018630   rip = 0x00007f1af12fe161
 *         Found by: stack scanning
 *     OS|Linux|0.0.0 Linux 6.1.0
 *     Module|liborders.so||liborders.so|0102...0|0x7f1af12fd000|0x7f1af1301fff|0
 *     0|1|liborders.so||||0x1161
 *
 * The first frame was interrupted. Breakpad prints return addresses, the Rust program the byte before. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"
#include "stack/lines/stack_modules.h"
#include "ui/path_text.h"

enum { FIELDS_MAX = 8 };

/* Fields between '|'; returns how many there are. */
static size_t split_fields(struct csn_str line, struct csn_str *out) {
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= line.len && count < FIELDS_MAX; i++) {
        if (i < line.len && line.ptr[i] != '|') continue;
        out[count++] = (struct csn_str){ line.ptr + from, i - from };
        from = i + 1;
    }
    return count;
}

static bool hex_field(struct csn_str field, uint64_t *out) {
    struct line_scan s = scan_on(field);
    return scan_hex(&s, out) && scan_at_end(&s);
}

static bool decimal_field(struct csn_str field, uint64_t *out) {
    struct line_scan s = scan_on(field);
    return scan_number(&s, 10, out) && scan_at_end(&s);
}

struct minidump_state {
    bool is_apples; /* the system */
};

/* Of an ELF file a debug id has the first 16 bytes of the build id. On Apple's systems its fields are no numbers, but bytes as they
 * are. */
static void read_debug_id(bool is_apples, struct csn_str field, struct build_id *out) {
    enum { DIGITS = 32 };
    if (!is_apples) build_id_parse_guid(field, out);
    else if (field.len > DIGITS) build_id_parse((struct csn_str){ field.ptr, DIGITS }, out);
}

/* "OS|Mac OS X|10.15.7 19H2" */
static enum line_kind read_system(struct minidump_state *minidump, struct csn_str system) {
    const struct line_scan s = scan_on(system);
    size_t at;
    minidump->is_apples = scan_find(&s, "Mac OS", &at) || scan_find(&s, "iOS", &at);
    return KIND_CONTEXT;
}

static enum line_kind read_module_fields(const struct minidump_state *minidump, struct stack_modules *modules,
                                         const struct csn_str *fields, size_t count) {
    struct module_names names = { .name = { "", 0 } };
    uint64_t start, end;
    if (count < 7 || !hex_field(fields[5], &start) || !hex_field(fields[6], &end) || end < start) return KIND_NONE;
    names.name = fields[1];
    if (!names.name.len) return KIND_NONE;
    read_debug_id(minidump->is_apples, fields[4], &names.id);
    stack_modules_add_image(modules, &names, start, end + 1 ? end + 1 : end);
    return KIND_CONTEXT;
}

/* "0|1|liborders.so||||0x1161": thread, frame, module, function, file, line, offset from the module if there is no function. */
static enum line_kind read_machine_line(struct minidump_state *minidump, struct stack_modules *modules, struct csn_str line,
                                        bool open, struct line_frame *out) {
    struct csn_str fields[FIELDS_MAX];
    uint64_t thread;
    size_t count = split_fields(line, fields);
    if (count == 3 && fields[0].len == 2 && memcmp(fields[0].ptr, "OS", 2) == 0) return read_system(minidump, fields[1]);
    if (count >= 7 && fields[0].len == 6 && memcmp(fields[0].ptr, "Module", 6) == 0)
        return read_module_fields(minidump, modules, fields, count);
    if (count != 7 || !decimal_field(fields[0], &thread) || !decimal_field(fields[1], &out->number)) return KIND_NONE;
    if (fields[3].len) return open && out->number ? KIND_INSIDE : KIND_NONE;
    if (!hex_field(fields[6], &out->value)) return KIND_NONE;
    out->module = fields[2];
    out->site = fields[2].len ? SITE_OFFSET : SITE_PC;
    out->fill_at = (size_t)(fields[3].ptr - line.ptr);
    out->fill_end = line.len;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

/* " ff 80 f2 ...", after its address */
static bool is_row_of_bytes(struct line_scan s) {
    uint64_t byte;
    const size_t from = s.at;
    return scan_char(&s, ' ') && scan_number(&s, 16, &byte) && s.at - from == 3 && scan_char(&s, ' ');
}

/* What both programs write below a frame: registers, how it was found, and with Breakpad's -s what the stack holds there. Other
 * indented lines may be frames of others, as of coredumpctl, that follow directly. */
static bool is_below_frame(struct csn_str line) {
    enum { ADDRESS_DIGITS = 8 };
    struct line_scan s = scan_on(line);
    size_t equals;
    uint64_t address;
    if (!scan_blanks(&s)) return false;
    const size_t from = s.at;
    if (scan_text(&s, "Found by: ") || scan_text(&s, "Stack contents:")) return true;
    if (scan_text(&s, "Possible instruction pointers:")) return true;
    if (scan_number(&s, 16, &address) && s.at - from >= ADDRESS_DIGITS) return is_row_of_bytes(s);
    return scan_find(&s, " = 0x", &equals);
}

/* "liborders.so!orders_load [liborders.c : 21 + 0x4]", or an address that no module has. */
static bool is_complete(struct line_scan s) {
    uint64_t pc;
    return memchr(s.line.ptr + s.at, '!', s.line.len - s.at) || (scan_hex(&s, &pc) && scan_at_end(&s));
}

/* "  0  liborders.so + 0x1161" */
static enum line_kind read_text_line(struct csn_str line, bool open, struct line_frame *out) {
    struct line_scan s = scan_on(line);
    size_t plus;
    scan_blanks(&s);
    out->number_at = s.at;
    if (!scan_number(&s, 10, &out->number) || !scan_text(&s, "  ")) return open && is_below_frame(line) ? KIND_INSIDE : KIND_NONE;
    out->number_end = s.at - 2;
    size_t from = s.at;
    if (!scan_find(&s, " + 0x", &plus) || memchr(line.ptr + from, '!', plus - from))
        return open && out->number && is_complete(s) ? KIND_INSIDE : KIND_NONE;
    s.at = plus + 3;
    if (plus == from || !scan_hex(&s, &out->value)) return KIND_NONE;
    scan_blanks(&s);
    if (!scan_at_end(&s)) return KIND_NONE;
    out->module = (struct csn_str){ line.ptr + from, plus - from };
    out->site = SITE_OFFSET;
    out->fill_at = plus;
    out->fill_end = line.len;
    return out->number ? KIND_FRAME : KIND_FIRST;
}

static enum line_kind read_minidump_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    enum line_kind kind =
        memchr(line.ptr, '|', line.len) ? read_machine_line(state, modules, line, open, out) : read_text_line(line, open, out);
    out->flags = out->number ? CSN_STACK_EITHER : CSN_STACK_EXACT;
    out->by_maps = true;
    return kind;
}

/* "0|1|liborders.so|orders_load|liborders.c|21|0x9" */
static void fill_machine(struct line_filler *f, uint32_t k) {
    fill_part(f, 0, f->at->fill_at);
    fill_name(f, k);
    out_char(f->out, '|');
    if (fill_has_file(f, k)) path_put(f->out, f->answer->frames[k].directory, f->answer->frames[k].base);
    out_char(f->out, '|');
    if (fill_has_file(f, k)) out_decimal(f->out, f->answer->frames[k].line);
    out_char(f->out, '|');
    out_hex(f->out, f->answer->frames[k].offset);
    fill_ending(f);
}

/* " 1  liborders.so!orders_load [liborders.c : 21]"; an inlined call is a line with a number of its own, as both
 * programs write them. */
static void fill_text(struct line_filler *f, uint32_t k) {
    fill_numbered(f, k, f->at->fill_at);
    out_char(f->out, '!');
    fill_name(f, k);
    if (fill_has_file(f, k)) {
        out_text(f->out, " [");
        path_put(f->out, f->answer->frames[k].directory, f->answer->frames[k].base);
        out_text(f->out, " : ");
        out_decimal(f->out, f->answer->frames[k].line);
        out_char(f->out, ']');
    } else {
        out_text(f->out, " + ");
        out_hex(f->out, f->answer->frames[k].offset);
    }
    fill_ending(f);
}

static void fill_minidump(struct line_filler *f) {
    bool machine = f->at->number_at == f->at->number_end;
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        if (machine) fill_machine(f, k);
        else fill_text(f, k);
    }
}

const struct stack_dialect minidump_dialect = { .name = "minidump", .is_flush = true,
                                                .marks = { MARK_NUMBER | MARK_HEX, MARK_FIELDS },
                                                .state_size = sizeof(struct minidump_state), .read = read_minidump_line,
                                                .fill = fill_minidump };
