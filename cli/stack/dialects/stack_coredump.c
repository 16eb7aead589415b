/* systemd-coredump: in the journal, of `coredumpctl info` and `journalctl`; elfutils' stacks without names are alike.
 *
 *     Module /opt/app/orders from deb ... with build-id 0102...
 *     Found module /opt/app/liborders.so with build-id: 0102...
 *     Module /opt/app/libother.so without build-id.
 *                     #0  0x00007f1af12fe13b orders_load (liborders.so + 0x113b)
 *                     #1  0x000055d000001461 n/a (orders + 0x1461)
 *
 * The offset counts from the module's first byte. */
#include "stack/dialects/dialects.h"
#include "stack/lines/inlined_group.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_fill.h"

/* Build ids of modules, by their names without folders; the last ones. Pages that no dump needs are not touched. */
enum { COREDUMP_IDS = 4096, COREDUMP_NAME = 64 };
struct coredump_state {
    uint64_t hashes[COREDUMP_IDS]; /* of names */
    struct coredump_id {
        struct build_id id;        /* size 0: it has none */
        char name[COREDUMP_NAME];  /* the end of a longer one */
    } ids[COREDUMP_IDS];
    uint32_t count;
};

static struct csn_str kept_name(struct csn_str path) {
    const struct csn_str name = base_name_of(path);
    const size_t cut = name.len < COREDUMP_NAME ? 0 : name.len - COREDUMP_NAME + 1;
    return (struct csn_str){ name.ptr + cut, name.len - cut };
}

static void keep_id(struct coredump_state *state, struct csn_str path, const struct build_id *id) {
    const uint32_t at = state->count++ % COREDUMP_IDS;
    const struct csn_str name = kept_name(path);
    state->hashes[at] = inlined_name_hash(base_name_of(path));
    state->ids[at] = (struct coredump_id){ .id = *id };
    memcpy(state->ids[at].name, name.ptr, name.len);
}

static bool read_module_line(struct coredump_state *state, struct line_scan *s) {
    static const char with[] = " with build-id";
    struct csn_str name, digits;
    struct build_id id = { .size = 0 };
    size_t at;
    if (!scan_text(s, "Module ") && !scan_text(s, "Found module ")) return false;
    if (!scan_word(s, &name)) return false;
    if (scan_find(s, " without build-id", &at)) {
        keep_id(state, name, &id);
        return true;
    }
    if (!scan_find(s, with, &at)) return false;
    s->at = at + sizeof(with) - 1;
    scan_char(s, ':');
    scan_blanks(s);
    if (!scan_word(s, &digits)) return false;
    while (digits.len && (digits.ptr[digits.len - 1] == '.' || digits.ptr[digits.len - 1] == ',')) digits.len--;
    if (!build_id_parse(digits, &id)) return false;
    keep_id(state, name, &id);
    return true;
}

/* The newest one: a module of an earlier dump may be of another build. */
static void find_id(const struct coredump_state *state, struct line_frame *out) {
    const struct csn_str name = kept_name(out->module);
    const uint64_t hash = inlined_name_hash(base_name_of(out->module));
    for (uint32_t back = 1; back <= state->count && back <= COREDUMP_IDS; back++) {
        const uint32_t at = (state->count - back) % COREDUMP_IDS;
        const char *kept = state->ids[at].name;
        if (state->hashes[at] != hash || strlen(kept) != name.len || memcmp(kept, name.ptr, name.len) != 0) continue;
        out->id = state->ids[at].id;
        return;
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
