/* Any bytes as the DWARF sections of a file: units, all DIEs with their values, ranges and names, all line tables.
 * The input begins with a byte of flags and ten lengths of two bytes; the sections follow one another, the last one has
 * the rest. With flag 8 they are a package of split DWARF: .debug_line and .debug_line_str are its two indexes.
 * Invariants: a status and its error agree, offsets ascend and stay within the unit, rows belong to sequences in
 * order, folded rows are those of the plain ones that matter, strings lie within the sections or the arena; a name is the same by
 * either way to it. */
#include <stdlib.h>

#include "dwarf/dwarf_split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = 10, HEADER = 1 + 2 * SECTIONS, MAX_DIES = 20000 };

static uint8_t touched; /* every byte of a result is read, so that a sanitizer sees a bad view */

static void require(bool condition) {
    if (!condition) abort();
}

static void agree(csn_status status, struct csn_error *err) {
    require(status >= 0 || status == err->code);
    require(status >= 0 || err->text[0]);
    *err = (struct csn_error)CSN_ERROR_INIT;
}

static void touch(struct csn_str s) {
    for (size_t i = 0; i < s.len; i++) touched = (uint8_t)(touched + (uint8_t)s.ptr[i]);
}

struct state {
    struct csni_dwarf *dwarf;
    struct csni_scopes *scopes;
    struct csni_arena arena;
    csni_address_ranges ranges;
    struct csni_line_table lines, folded;
    struct csn_error err;
};

static void read_values(struct state *s, const struct csni_unit *unit, const struct csni_die *die) {
    struct csn_str text, same;
    uint64_t number;
    struct csni_die other;
    for (int at = 0; at < CSNI_AT_COUNT; at++) {
        csn_status status = csni_attr_string(s->dwarf, die, (enum csni_at)at, &text, &s->err);
        agree(status, &s->err);
        if (status == CSN_OK) touch(text);
        csni_attr_unsigned(die, (enum csni_at)at, &number);
        agree(csni_attr_address(s->dwarf, die, (enum csni_at)at, &number, &s->err), &s->err);
        status = csni_die_follow(s->dwarf, die, (enum csni_at)at, &other, &s->err);
        agree(status, &s->err);
        if (status == CSN_OK) require(other.next <= other.unit->end && other.off < other.next);
    }
    s->ranges.count = 0;
    agree(csni_die_ranges(s->dwarf, die, &s->ranges, &s->err), &s->err);
    csni_scopes_take_cost(s->scopes);
    csn_status status = csni_scopes_name(s->scopes, unit, die, &s->arena, &text, &s->err);
    agree(status, &s->err);
    uint64_t cost = csni_scopes_take_cost(s->scopes);
    csn_status again = csni_scopes_name_at(s->scopes, unit, die->unit, die->off, &s->arena, &same, &s->err);
    /* A linkage name that is sound serves by itself, whatever is damaged beside it. */
    if (status < 0) require(again < 0 || (again == CSN_OK && same.len > 0));
    else require(again == status && csni_scopes_take_cost(s->scopes) == cost);
    if (status == CSN_OK) {
        require(text.len > 0 && csni_str_equal(text, same));
        touch(text);
    }
}

static void walk_unit(struct state *s, const struct csni_unit *unit, uint8_t flags) {
    struct csni_die_walk walk;
    struct csni_die die;
    agree(csni_die_walk_init(&walk, s->dwarf, unit, &s->err), &s->err);
    walk.options.skip_call_sites = flags & 2;
    walk.options.jump_over_types = flags & 8;
    uint64_t last = 0;
    csn_status status;
    for (size_t count = 0; (status = csni_die_walk_next(&walk, &die, &s->err)) == CSN_OK && count < MAX_DIES; count++) {
        require(die.off > last && die.off >= unit->first_die && die.next <= unit->end && die.next > die.off);
        last = die.off;
        read_values(s, unit, &die);
        if (flags & 4 && die.off & 1) agree(csni_die_walk_skip_children(&walk, &die, &s->err), &s->err);
    }
    agree(status, &s->err);
    if (status != CSN_OK) require(csni_die_walk_next(&walk, &die, &s->err) == CSN_NONE);
}

/* Whether rows of a folded sequence are all its rows that matter; the last one, which ends it, not counted. */
static bool is_folded(const struct csni_line_row *got, size_t got_count, const struct csni_line_row *rows, size_t count,
                      bool repeats_first) {
    uint32_t changes = 0, file = 0, line = 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = rows[i].file + (repeats_first && !rows[i].file);
        changes += !i || own != file || rows[i].line != line;
        file = own;
        line = rows[i].line;
        if (i + 1 < count && rows[i + 1].addr == rows[i].addr) continue;
        if (at >= got_count || got[at].addr != rows[i].addr || got[at].changes != changes) return false;
        if (got[at].file != file || got[at].line != line) return false;
        at++;
    }
    return at == got_count;
}

static bool matches_folded(const struct csni_line_sequence *b, const struct csni_line_row *got, const struct csni_line_sequence *a,
                           const struct csni_line_row *rows, bool repeats_first) {
    return b->first_file == rows->file + (repeats_first && !rows->file) && b->first_line == rows->line &&
           is_folded(got, b->row_count - 1, rows, a->row_count - 1, repeats_first);
}

static void check_sequences(const struct csni_line_table *t) {
    uint64_t high = 0;
    for (size_t i = 0; i < t->sequences.count; i++) {
        const struct csni_line_sequence *q = &t->sequences.items[i];
        require(q->low < q->high && q->high >= high && q->row_count >= 2);
        require((size_t)q->first_row + q->row_count <= t->rows.count);
        require(t->rows.items[q->first_row].addr == q->low);
        require(t->rows.items[q->first_row + q->row_count - 1].file == CSNI_LINE_END);
        high = q->high;
    }
}

/* The tables as the slow and the fast loops read them. */
static void compare_tables(const struct csni_line_table *plain, const struct csni_line_table *folded) {
    bool repeats_first = csni_line_table_repeats_first(folded);
    require(plain->sequences.count == folded->sequences.count);
    for (size_t i = 0; i < plain->sequences.count; i++) {
        const struct csni_line_sequence *a = &plain->sequences.items[i], *b = &folded->sequences.items[i];
        const struct csni_line_row *rows = plain->rows.items + a->first_row, *got = folded->rows.items + b->first_row;
        require(a->low == b->low && a->high == b->high && a->off == b->off && !a->folded);
        if (b->folded) {
            /* A file that the program itself defines may make files 0 and 1 the same when rows have been read already. */
            require(matches_folded(b, got, a, rows, repeats_first) || matches_folded(b, got, a, rows, false));
            continue;
        }
        require(a->row_count == b->row_count);
        for (uint32_t k = 0; k < a->row_count; k++)
            require(rows[k].addr == got[k].addr && rows[k].file == got[k].file && rows[k].line == got[k].line);
    }
}

static void read_lines(struct state *s, const struct csni_unit *unit) {
    struct csni_line_table *t = &s->lines;
    csn_status status = csni_line_table_read(t, s->dwarf, unit, &s->err);
    agree(status, &s->err);
    s->folded.fold = true;
    require(csni_line_table_read(&s->folded, s->dwarf, unit, &s->err) == status);
    agree(status, &s->err);
    check_sequences(t);
    check_sequences(&s->folded);
    compare_tables(t, &s->folded);
    struct csn_str directory, name;
    bool relative;
    for (uint32_t i = 0; i <= t->files.count; i++) {
        if (!csni_line_table_file(t, i, &directory, &name, &relative)) continue;
        touch(directory);
        touch(name);
    }
}

/* Makes all units of code find themselves by id, and reads them as split units of themselves. */
static void bind_units(struct csni_dwarf *dwarf, struct csn_error *err) {
    require(csni_split_index(dwarf, err) == CSN_OK);
    for (uint32_t i = 0; i < dwarf->info_unit_count; i++) {
        struct csni_unit *unit = &dwarf->units[i], *found = csni_split_find(dwarf, unit->dwo_id);
        if (!unit->prepared || !found || !found->prepared) continue;
        agree(csni_split_bind(found, unit, err), err);
    }
}

static void run(struct state *s, uint8_t flags) {
    struct csni_dwarf *dwarf = s->dwarf;
    for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
        agree(csni_dwarf_compile_abbrevs(dwarf, i, &s->err), &s->err);
    for (uint32_t i = 0; i < dwarf->unit_count; i++)
        agree(csni_unit_prepare(dwarf, &dwarf->units[i], &s->err), &s->err);
    if (flags & 8) bind_units(dwarf, &s->err);
    csni_dwarf_has_cross_references(dwarf);
    csni_dwarf_has_supplement_references(dwarf);
    require(csni_scopes_create(dwarf, &s->scopes, &s->err) == CSN_OK);
    for (uint32_t i = 0; i < dwarf->unit_count; i++) {
        if (!dwarf->units[i].prepared) continue;
        walk_unit(s, &dwarf->units[i], flags);
        read_lines(s, &dwarf->units[i]);
    }
    csni_scopes_destroy(s->scopes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEADER) return 0;
    struct csni_dwarf_sections sections = { .big_endian = data[0] & 1 };
    struct csni_span *each[SECTIONS] = { &sections.info, &sections.types, &sections.abbrev, &sections.line, &sections.str,
                                         &sections.line_str, &sections.str_offsets, &sections.addr, &sections.ranges,
                                         &sections.rnglists };
    size_t at = HEADER;
    for (size_t i = 0; i < SECTIONS; i++) {
        size_t want = data[1 + 2 * i] | (size_t)data[2 + 2 * i] << 8;
        if (i == SECTIONS - 1 || want > size - at) want = size - at;
        *each[i] = (struct csni_span){ data + at, want };
        at += want;
    }
    if (data[0] & 8) {
        sections.cu_index = sections.line;
        sections.tu_index = sections.line_str;
        sections.line = sections.line_str = (struct csni_span){ NULL, 0 };
    }
    struct state s = { .err = CSN_ERROR_INIT };
    csn_status status = csni_dwarf_open(&sections, NULL, &s.dwarf, &s.err);
    agree(status, &s.err);
    if (status != CSN_OK) return 0;
    csni_arena_init(&s.arena, &csni_libc_allocator, 4096);
    s.ranges.alloc = &csni_libc_allocator;
    csni_line_table_init(&s.lines, NULL);
    csni_line_table_init(&s.folded, NULL);
    run(&s, data[0]);
    csni_line_table_deinit(&s.lines);
    csni_line_table_deinit(&s.folded);
    csni_vec_deinit(&s.ranges);
    csni_arena_deinit(&s.arena);
    csni_dwarf_close(s.dwarf);
    return 0;
}
