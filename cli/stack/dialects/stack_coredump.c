/* systemd-coredump: in the journal, of `coredumpctl info` and `journalctl`; elfutils' stacks without names are alike.
 *
 *     Module /opt/app/orders from deb ... with build-id 0102...
 *     Found module /opt/app/liborders.so with build-id: 0102...
 *                     #0  0x00007f1af12fe13b orders_load (liborders.so + 0x113b)
 *                     #1  0x000055d000001461 n/a (orders + 0x1461)
 *
 * The offset counts from the module's first byte. */
#include "stack/dialects/dialects.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* Build ids of modules, by the end of their names; the last ones. */
enum { COREDUMP_IDS = 64, COREDUMP_NAME = 64 };
struct coredump_state {
    struct coredump_id {
        char name[COREDUMP_NAME];
        struct build_id id;
    } ids[COREDUMP_IDS];
    uint32_t count;
};

static bool read_module_line(struct coredump_state *state, struct line_scan *s) {
    static const char with[] = " with build-id";
    struct csn_str name, digits;
    struct build_id id;
    size_t at;
    if (!scan_text(s, "Module ") && !scan_text(s, "Found module ")) return false;
    if (!scan_word(s, &name) || !scan_find(s, with, &at)) return false;
    s->at = at + sizeof(with) - 1;
    scan_char(s, ':');
    scan_blanks(s);
    if (!scan_word(s, &digits)) return false;
    while (digits.len && (digits.ptr[digits.len - 1] == '.' || digits.ptr[digits.len - 1] == ',')) digits.len--;
    name = base_name_of(name);
    if (!build_id_parse(digits, &id) || name.len >= COREDUMP_NAME) return false;
    struct coredump_id *item = &state->ids[state->count++ % COREDUMP_IDS];
    *item = (struct coredump_id){ .id = id };
    memcpy(item->name, name.ptr, name.len);
    return true;
}

static void find_id(const struct coredump_state *state, struct line_frame *out) {
    struct csn_str name = base_name_of(out->module);
    for (uint32_t i = 0; i < state->count && i < COREDUMP_IDS; i++) {
        const struct coredump_id *item = &state->ids[i];
        if (strlen(item->name) == name.len && memcmp(item->name, name.ptr, name.len) == 0) out->id = item->id;
    }
}

/* "orders_load (liborders.so + 0x113b)", perhaps with the bracket behind it that was filled in before: that may name any function
 * and file, so that the first plus counts. */
static bool read_place(struct line_scan *s, struct line_frame *out) {
    size_t open, plus;
    struct csn_str line = s->line;
    if (!scan_find(s, " + 0x", &plus)) return false;
    struct line_scan before = { { line.ptr, plus }, s->at }, number = { line, plus + 3 };
    if (!scan_find_last(&before, '(', &open) || open < s->at + 2 || open + 1 == plus) return false;
    if (!scan_hex(&number, &out->value) || !scan_char(&number, ')')) return false;
    out->fill_at = out->fill_end = number.at;
    scan_filled(&number);
    if (!scan_at_end(&number)) return false;
    out->module = (struct csn_str){ line.ptr + open + 1, plus - open - 1 };
    out->symbol = (struct csn_str){ line.ptr + s->at, open - 1 - s->at };
    return true;
}

static enum line_kind read_coredump_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                         struct line_frame *out) {
    struct coredump_state *coredump = state;
    struct line_scan s = scan_on(line);
    (void)modules, (void)open;
    scan_blanks(&s);
    if (!scan_char(&s, '#')) return read_module_line(coredump, &s) ? KIND_CONTEXT : KIND_NONE;
    if (!scan_number(&s, 10, &out->number) || !scan_blanks(&s) || !scan_hex(&s, &out->pc) || !scan_blanks(&s)) return KIND_NONE;
    if (!read_place(&s, out)) return KIND_NONE;
    find_id(coredump, out);
    out->site = SITE_OFFSET;
    if (out->number) out->flags = CSN_STACK_RETURN; /* also if the lines before it are missing */
    return out->number ? KIND_FRAME : KIND_FIRST;
}

const struct stack_dialect coredump_dialect = { .name = "coredump", .marks = { MARK_HASH | MARK_PLUS, MARK_BUILD_ID },
                                                .state_size = sizeof(struct coredump_state), .read = read_coredump_line,
                                                .fill = fill_line_in_brackets };
