/* Making an address index unit by unit. */
#include "stand_ins/libdw/libdw_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/address_index/address_bounds.h"
#include "stand_ins/address_index/address_index_write.h"
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/libdw/libdw_names.h"
#include "ui/bounds.h"

enum { NOT_YET = UINT32_MAX - 2, MAX_DEPTH = 200 };

struct making {
    struct libdw_module *module;
    uint64_t base, end;      /* addresses of code */
    struct address_texts texts;
    struct address_part part;
    struct libdw_unit *unit; /* that is added */
    uint32_t *scopes;        /* by DIE of the unit: of itself, if it is a function, else of the one around it */
    struct { uint64_t *items; size_t count, capacity; } bounds; /* where what is known changes, ascending */
};

/* ---- scopes ---- */

static uint32_t add_text(struct making *k, struct csn_str text) {
    const char *end = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    return address_texts_add(&k->texts, text.ptr, end ? (size_t)(end - text.ptr) : text.len);
}

/* A path with what is printed before it. */
static uint32_t add_path(struct making *k, const char *path, struct csn_str directory) {
    if (path[0] == '/' || !directory.len) return address_texts_add_file(&k->texts, path);
    char *whole = zeroed_memory(directory.len + strlen(path) + 2, 1);
    memcpy(whole, directory.ptr, directory.len);
    whole[directory.len] = '/';
    strcpy(whole + directory.len + 1, path);
    const uint32_t file = address_texts_add_file(&k->texts, whole);
    free(whole);
    return file;
}

static bool equal(struct csn_str a, struct csn_str b) { return a.len == b.len && (!a.len || memcmp(a.ptr, b.ptr, a.len) == 0); }

/* The call of an inlined function. False: it cannot be told. */
static bool read_call(struct making *k, const struct csn_debug_die *die, struct address_scope *out) {
    bool has_file, found;
    const uint64_t file = libdw_die_number(die, DW_AT_call_file, &has_file), line = libdw_die_number(die, DW_AT_call_line, &found);
    const uint64_t column = libdw_die_number(die, DW_AT_call_column, &found);
    char *path = has_file ? libdw_unit_file(k->unit, file) : NULL;
    bool good = line <= UINT32_MAX && column <= UINT32_MAX;
    if (path && path[0] != '/' && !equal(k->unit->unit->comp_dir, libdw_call_directory(k->unit))) good = false;
    if (has_file) out->call_discriminator |= LIBDW_HAS_CALL_FILE;
    if (good && path) good = (out->call_file = add_path(k, path, k->unit->unit->comp_dir)) != ADDRESS_NONE;
    free(path);
    out->call_line = (uint32_t)line;
    out->call_column = (uint32_t)column;
    return good;
}

static uint32_t push_scope(struct making *k, const struct address_scope *scope) {
    GROW_PUSH(&k->part.scopes, *scope);
    return (uint32_t)k->part.scopes.count - 1;
}

/* The function that an inlined one was written in becomes a scope between it and `parent`. ADDRESS_UNKNOWN: it cannot be told. */
static uint32_t add_outer(struct making *k, uint32_t idx, uint32_t parent) {
    struct libdw_scopes scopes;
    struct address_scope made = { .parent = parent, .call_file = ADDRESS_NONE, .call_discriminator = LIBDW_OUTER };
    if (!libdw_scopes_from(k->unit, idx, &scopes)) return parent;
    for (size_t i = 1; i < scopes.count; i++) {
        const struct csn_debug_die *die = &k->unit->dies.items[scopes.items[i]].die;
        if (die->tag == DW_TAG_inlined_subroutine) return ADDRESS_UNKNOWN;
        if (die->tag != DW_TAG_subprogram) continue;
        made.name = add_text(k, libdw_die_name(die));
        return made.name == ADDRESS_NONE ? ADDRESS_UNKNOWN : push_scope(k, &made);
    }
    return parent;
}

/* The scope of a function or call, whose parent is known. */
static uint32_t add_function(struct making *k, uint32_t idx, uint32_t parent) {
    const struct csn_debug_die *die = &k->unit->dies.items[idx].die;
    struct address_scope made = { .parent = parent, .call_file = ADDRESS_NONE };
    made.call_discriminator = die->tag == DW_TAG_subprogram    ? LIBDW_SUBPROGRAM
                              : die->tag == DW_TAG_entry_point ? LIBDW_ENTRY_POINT
                                                               : LIBDW_INLINED;
    made.name = add_text(k, libdw_die_name(die));
    if (made.name == ADDRESS_NONE) return ADDRESS_UNKNOWN;
    if (die->tag != DW_TAG_inlined_subroutine) return push_scope(k, &made);
    made.parent = add_outer(k, idx, parent);
    return made.parent != ADDRESS_UNKNOWN && read_call(k, die, &made) ? push_scope(k, &made) : ADDRESS_UNKNOWN;
}

/* The scope of a DIE. ADDRESS_UNKNOWN: it cannot be told. */
static uint32_t find_scope(struct making *k, uint32_t idx, unsigned depth) {
    const struct libdw_die *at = &k->unit->dies.items[idx];
    if (k->scopes[idx] != NOT_YET) return k->scopes[idx];
    if (depth > MAX_DEPTH) return ADDRESS_UNKNOWN;
    uint32_t made = at->parent == LIBDW_NO_PARENT ? ADDRESS_NONE : find_scope(k, at->parent, depth + 1);
    if (made != ADDRESS_UNKNOWN && libdw_is_function(at->die.tag)) made = add_function(k, idx, made);
    k->scopes[idx] = made;
    return made;
}

/* Nothing is printed of scopes whose inlined function cannot be found. */
static uint32_t scope_from(struct making *k, uint32_t idx) {
    struct libdw_scopes scopes;
    if (!idx) return ADDRESS_NONE;
    if (!libdw_scopes_from(k->unit, idx, &scopes)) return ADDRESS_UNKNOWN;
    return find_scope(k, idx, 0);
}

/* ---- spans ---- */

/* The first bound at or above an address. */
static size_t first_bound(const struct making *k, uint64_t addr) {
    size_t low = 0, high = k->bounds.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (k->bounds.items[middle] < addr) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The innermost DIE from each bound on, as libdw_unit_scope() finds it: of the children of a DIE, the first that holds
 * an address counts.
 * NULL: that takes too long. */
static uint32_t *paint_scopes(struct making *k) {
    enum { STEPS = 1 << 24, STEPS_EACH = 256 };
    const struct libdw_unit *u = k->unit;
    uint64_t steps = STEPS + STEPS_EACH * (uint64_t)u->ranges.count;
    k->bounds.count = 0;
    for (size_t i = 0; i < u->ranges.count; i++) {
        GROW_PUSH(&k->bounds, u->ranges.items[i].start);
        GROW_PUSH(&k->bounds, u->ranges.items[i].end);
    }
    k->bounds.count = sort_addresses(k->bounds.items, k->bounds.count);
    uint32_t *painted = zeroed_memory(k->bounds.count, sizeof *painted);
    for (uint32_t i = 1; i < u->dies.count; i++) {
        const struct libdw_die *d = &u->dies.items[i];
        for (uint32_t r = 0; r < d->range_count; r++) {
            const struct csn_range *range = &u->ranges.items[d->first_range + r];
            for (size_t at = first_bound(k, range->start);
                 at < k->bounds.count && k->bounds.items[at] < range->end && steps; at++, steps--)
                if (painted[at] == d->parent) painted[at] = i;
        }
    }
    if (steps) return painted;
    free(painted);
    return NULL;
}

/* ---- the rows and spans of a chunk ---- */

static void add_spans(struct making *k, const uint32_t *painted, uint64_t low, uint64_t high) {
    size_t at = first_bound(k, low + 1);
    address_part_add_span(&k->part, (uint32_t)(low - k->base), at ? scope_from(k, painted[at - 1]) : ADDRESS_NONE);
    for (; at < k->bounds.count && k->bounds.items[at] < high; at++)
        address_part_add_span(&k->part, (uint32_t)(k->bounds.items[at] - k->base), scope_from(k, painted[at]));
}

/* False: where the row of an address begins is not known. */
static bool add_rows(struct making *k, uint64_t low, uint64_t high) {
    static const struct address_wide_row none = { .file = ADDRESS_NONE };
    struct libdw_unit *u = k->unit;
    const struct csn_debug_row *first = libdw_unit_row(u, low);
    if (first && first->addr != low) return false;
    if (!first) address_part_add_row(&k->part, (uint32_t)(low - k->base), &none);
    for (size_t i = libdw_unit_first_row(u, low); i < u->rows.count && libdw_unit_row_at(u, i)->addr < high; i++) {
        const uint64_t addr = libdw_unit_row_at(u, i)->addr;
        if (i + 1 < u->rows.count && libdw_unit_row_at(u, i + 1)->addr == addr) continue; /* the last one counts */
        const struct csn_debug_row *row = libdw_unit_row(u, addr);
        char *path = row ? libdw_unit_file(u, row->file) : NULL;
        struct address_wide_row made = none;
        if (path) made = (struct address_wide_row){ add_path(k, path, u->unit->comp_dir), row->line, row->column, 0 };
        free(path);
        if (row && made.file == ADDRESS_NONE) return false;
        address_part_add_row(&k->part, (uint32_t)(addr - k->base), &made);
    }
    return true;
}

static void add_unknown(struct making *k, uint64_t from) {
    address_part_begin(&k->part, (uint32_t)(from - k->base));
    address_part_add_span(&k->part, (uint32_t)(from - k->base), ADDRESS_UNKNOWN);
}

/* What is known of [low, high), which a unit has alone; `painted` NULL: nothing. */
static void add_chunk(struct making *k, const uint32_t *painted, uint64_t low, uint64_t high) {
    struct address_part *p = &k->part;
    if (low < k->base) low = k->base;
    if (high > k->end) high = k->end;
    if (low >= high) return;
    const size_t rows = p->rows.count, spans = p->spans.count;
    address_part_begin(p, (uint32_t)(low - k->base));
    if (painted) add_spans(k, painted, low, high);
    if (!painted || !add_rows(k, low, high)) {
        p->rows.count = rows;
        p->spans.count = spans;
        p->chunks.count--;
        add_unknown(k, low);
    }
}

/* A unit that has runs of `ranges` from `first` on. */
struct run {
    uint64_t low, high;
    uint32_t unit;
};

static void add_unit(struct making *k, const struct run *runs, size_t count) {
    struct libdw_module *m = k->module;
    uint32_t *painted = NULL;
    k->unit = NULL;
    for (size_t i = 0; i < count && !k->unit; i++) k->unit = libdw_module_unit(m, runs[i].high - 1);
    if (k->unit) {
        (void)libdw_unit_scope(k->unit, 0); /* reads them */
        (void)libdw_unit_row(k->unit, 0);
        painted = paint_scopes(k);
        k->scopes = zeroed_memory(k->unit->dies.count, sizeof *k->scopes);
        for (size_t i = 0; i < k->unit->dies.count; i++) k->scopes[i] = NOT_YET;
    }
    for (size_t i = 0; i < count; i++) add_chunk(k, painted, runs[i].low, runs[i].high);
    free(painted);
    free(k->scopes);
    k->scopes = NULL;
    libdw_module_trim(m);
}

static int by_unit(const void *pa, const void *pb) {
    const struct run *a = pa, *b = pb;
    if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1;
    return a->low < b->low ? -1 : a->low > b->low;
}

/* Ranges of units up to the next one. What several begin at, and what is before and after all of them, is left to the object. */
static struct run *find_runs(struct making *k, size_t *count) {
    const struct libdw_module *m = k->module;
    struct run *runs = zeroed_memory(m->ranges.count, sizeof *runs);
    *count = 0;
    for (size_t i = 0; i < m->ranges.count; i++) {
        const struct libdw_range *r = &m->ranges.items[i];
        struct run made = { r->addr, i + 1 < m->ranges.count ? r[1].addr : m->ranges_end, r->unit };
        if (made.low < made.high && libdw_module_unit_index(m, made.low) != r->unit) add_unknown(k, made.low++);
        if (made.low < made.high) runs[(*count)++] = made;
    }
    return runs;
}

static void add_units(struct making *k) {
    size_t count;
    struct run *runs = find_runs(k, &count);
    const struct libdw_module *m = k->module;
    if (!count || runs[0].low > k->base) add_unknown(k, k->base);
    if (count && m->ranges_end >= k->base && m->ranges_end < k->end) add_unknown(k, m->ranges_end);
    qsort(runs, count, sizeof *runs, by_unit);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && runs[next].unit == runs[i].unit;) next++;
        add_unit(k, runs + i, next - i);
    }
    free(runs);
}

/* ---- symbols ---- */

/* False: that takes too long. */
static bool add_symbols(struct making *k, struct address_content *content) {
    enum { MAX_WHOLE_SEARCHES = 1024 };
    struct libdw_module *m = k->module;
    uint64_t offset;
    k->bounds.count = 0;
    GROW_PUSH(&k->bounds, k->base);
    for (size_t i = 0; i < m->symbol_count; i++) {
        const uint64_t value = libdw_symbol_value(&m->symbols[i]);
        GROW_PUSH(&k->bounds, value);
        GROW_PUSH(&k->bounds, value + (m->symbols[i].size ? m->symbols[i].size : 1));
    }
    for (size_t i = 0; i < m->sections.count; i++) {
        GROW_PUSH(&k->bounds, m->sections.items[i].start);
        GROW_PUSH(&k->bounds, m->sections.items[i].end);
        GROW_PUSH(&k->bounds, m->sections.items[i].end + 1);
    }
    k->bounds.count = sort_addresses(k->bounds.items, k->bounds.count);
    const struct csn_debug_symbol *last = NULL;
    for (size_t i = first_bound(k, k->base); i < k->bounds.count && k->bounds.items[i] < k->end; i++) {
        const struct csn_debug_symbol *s = libdw_module_symbol(m, k->bounds.items[i], &offset);
        if (m->whole_searches > MAX_WHOLE_SEARCHES) return false;
        if (s == last && content->symbols.count) continue;
        struct address_symbol made = { (uint32_t)(k->bounds.items[i] - k->base), UINT32_MAX, ADDRESS_NONE, ADDRESS_NONE };
        if (s) made.name = add_text(k, s->name);
        GROW_PUSH(&content->symbols, made);
        last = s;
    }
    return true;
}

/* ---- the whole ---- */

static bool find_bounds(struct making *k) {
    const struct libdw_module *m = k->module;
    k->base = UINT64_MAX;
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        if (!(s.flags & CSN_SECTION_EXEC) || !s.size) continue;
        if (s.addr < k->base) k->base = s.addr;
        if (s.addr + s.size > k->end) k->end = s.addr + s.size;
    }
    if (k->base < m->low) k->base = m->low;
    if (k->end > m->high) k->end = m->high;
    return k->base < k->end && k->end - k->base < UINT32_MAX - 1;
}

struct address_index *libdw_index_make(struct libdw_module *m, const struct file_identity *object, const char *path) {
    struct making k = { .module = m, .part = { .keeps_rows = true } };
    const struct address_part *parts[] = { &k.part };
    struct address_content content = { .subject = { .object = *object }, .parts = parts, .part_count = 1, .texts = &k.texts };
    struct address_index *made = NULL;
    const bool is_linked = m->object.kind == CSN_OBJECT_EXECUTABLE || m->object.kind == CSN_OBJECT_SHARED;
    if (!is_linked || m->object.address_size != 8 || !find_bounds(&k) ||
        !kept_subject_describe(m->info, &content.subject))
        return NULL;
    address_texts_init(&k.texts);
    libdw_module_reset_budget(m);
    add_units(&k);
    content.base = k.base;
    content.size = k.end - k.base;
    m->whole_searches = 0;
    if (add_symbols(&k, &content)) made = address_index_make(&content, path);
    address_part_deinit(&k.part);
    address_texts_deinit(&k.texts);
    free(content.symbols.items);
    free(k.bounds.items);
    return made;
}
