/* The symbol that covers an address: the table is read in order, and the order counts. */
#include <stdlib.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/libdw/libdw_module.h"
#include "ui/bounds.h"

uint64_t libdw_symbol_value(const struct csn_debug_symbol *symbol) { return symbol->addr + symbol->had_low_bit; }

/* The best symbols so far, with a size and without. */
struct candidates {
    uint64_t addr, min_label;
    const struct csn_debug_symbol *sized, *sizeless;
    uint32_t section;        /* of the address; UINT32_MAX: not known yet */
};

static int strength(const struct csn_debug_symbol *s) { return s->bind == CSN_BIND_GLOBAL ? 3 : s->bind == CSN_BIND_WEAK ? 2 : 1; }

bool libdw_symbol_moves(const struct libdw_module *m, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    if (s->section == CSN_NO_SECTION) return false;
    return csn_debug_info_section(m->info, s->section, &section, NULL) != CSN_OK || (section.flags & CSN_SECTION_ALLOC);
}

/* A label of a section that is not loaded, as `$d` of ARM in .comment, is no more than a number: it names that address alone. */
static bool in_same_section(const struct libdw_module *m, struct candidates *c, const struct csn_debug_symbol *s) {
    struct csn_debug_section section;
    if (!libdw_symbol_moves(m, s)) return libdw_symbol_value(s) == c->addr;
    if (c->section == UINT32_MAX) c->section = libdw_module_section(m, c->addr, &section);
    return libdw_module_section(m, libdw_symbol_value(s), &section) == c->section;
}

static void try_symbol(const struct libdw_module *m, struct candidates *c, const struct csn_debug_symbol *s) {
    const uint64_t value = libdw_symbol_value(s), best = c->sized ? libdw_symbol_value(c->sized) : 0;
    if (value + s->size > c->min_label) c->min_label = value + s->size;
    if (s->size && c->addr - value >= s->size) return;
    if (!c->sized || best < value || strength(c->sized) < strength(s)) {
        if (s->size) c->sized = s;
        else if (!c->sized && value >= c->min_label && in_same_section(m, c, s)) c->sizeless = s;
    } else if (s->size && best == value) {
        bool smaller = c->sized->size > s->size && strength(c->sized) <= strength(s);
        bool stronger = c->sized->size >= s->size && strength(c->sized) < strength(s);
        if (smaller || stronger) c->sized = s;
    }
}

static bool may_name(const struct libdw_module *m, const struct csn_debug_symbol *s) {
    if (m->has_moved && !libdw_symbol_moves(m, s)) return false;
    return s->is_defined && s->name.len && s->kind != CSN_SYMBOL_SECTION && s->kind != CSN_SYMBOL_FILE && s->kind != CSN_SYMBOL_TLS;
}

static void search(const struct libdw_module *m, struct candidates *c, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
        const struct csn_debug_symbol *s = &m->symbols[i];
        if (libdw_symbol_value(s) <= c->addr && may_name(m, s)) try_symbol(m, c, s);
    }
}

/* All symbols in the order of the table. */
static const struct csn_debug_symbol *search_all(struct libdw_module *m, uint64_t addr) {
    m->whole_searches++;
    struct candidates c = { .addr = addr, .section = UINT32_MAX };
    search(m, &c, m->first_global, m->symbol_count);
    if (!c.sized && (!c.sizeless || libdw_symbol_value(c.sizeless) != addr)) search(m, &c, 0, m->first_global);
    return c.sized ? c.sized : c.sizeless && libdw_symbol_value(c.sizeless) >= c.min_label ? c.sizeless : NULL;
}

/* ---- by address ---- */

static int by_value(const void *pa, const void *pb) {
    const struct libdw_sorted_symbol *a = pa, *b = pb;
    return a->value < b->value ? -1 : a->value > b->value;
}

static void sort_symbols(struct libdw_module *m) {
    uint64_t reach = 0;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const uint64_t value = libdw_symbol_value(&m->symbols[i]), left = UINT64_MAX - value;
        const struct libdw_sorted_symbol made = { value, value + (m->symbols[i].size < left ? m->symbols[i].size : left),
                                                  (uint32_t)i };
        if (may_name(m, &m->symbols[i])) GROW_PUSH(&m->sorted_symbols, made);
    }
    if (m->sorted_symbols.count) qsort(m->sorted_symbols.items, m->sorted_symbols.count, sizeof *m->sorted_symbols.items, by_value);
    for (size_t i = 0; i < m->sorted_symbols.count; i++) {
        if (m->sorted_symbols.items[i].reach > reach) reach = m->sorted_symbols.items[i].reach;
        m->sorted_symbols.items[i].reach = reach;
    }
}

enum { MAX_COVERING = 64, MAX_STEPS = 4096 };

static int by_place(const void *pa, const void *pb) {
    const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return a < b ? -1 : a > b;
}

/* The symbols with a size that hold the address, in the order of the table. False: too many, or one without a size
 * counts besides. */
static bool find_covering(const struct libdw_module *m, uint64_t addr, uint32_t *found, size_t *count) {
    const struct libdw_sorted_symbol *sorted = m->sorted_symbols.items;
    const size_t above = UPPER_BOUND(sorted, m->sorted_symbols.count, value, addr);
    size_t at = above;
    bool has_label = false;
    *count = 0;
    for (; at-- > 0 && (sorted[at].reach > addr || sorted[at].value == addr);) {
        const struct csn_debug_symbol *s = &m->symbols[sorted[at].idx];
        if (above - at > MAX_STEPS || sorted[at].reach == UINT64_MAX) return false;
        if (!s->size && sorted[at].value == addr) has_label = true;
        if (!s->size || addr - sorted[at].value >= s->size) continue;
        if (*count == MAX_COVERING) return false;
        found[(*count)++] = sorted[at].idx;
    }
    if (*count > 1) qsort(found, *count, sizeof *found, by_place);
    return !*count || !has_label;
}

/* Where none with a size holds the address: of those without one that begin where all before them end, the last one
 * that is read. Local ones are read after the global ones, if none of these is at the address. */
static const struct csn_debug_symbol *find_label(const struct libdw_module *m, uint64_t addr) {
    const struct libdw_sorted_symbol *sorted = m->sorted_symbols.items;
    const size_t count = UPPER_BOUND(sorted, m->sorted_symbols.count, value, addr);
    const uint64_t end = count ? sorted[count - 1].reach : 0;
    struct candidates c = { .addr = addr, .section = UINT32_MAX };
    const struct csn_debug_symbol *global = NULL, *local = NULL;
    for (size_t i = LOWER_BOUND(sorted, count, value, end); i < count; i++) {
        const struct csn_debug_symbol *s = &m->symbols[sorted[i].idx];
        const bool is_global = sorted[i].idx >= m->first_global;
        if (s->size || !in_same_section(m, &c, s)) continue;
        if (is_global && (!global || s > global)) global = s;
        if (!is_global && (!local || s > local)) local = s;
    }
    return local && !(global && end == addr) ? local : global;
}

static const struct csn_debug_symbol *best_of(const struct libdw_module *m, uint64_t addr, const uint32_t *found, size_t count) {
    struct candidates c = { .addr = addr, .section = UINT32_MAX };
    size_t first = 0;
    while (first < count && found[first] < m->first_global) first++;
    for (size_t i = first; i < count; i++) try_symbol(m, &c, &m->symbols[found[i]]);
    const bool has_global = c.sized;
    for (size_t i = 0; i < first && !has_global; i++) try_symbol(m, &c, &m->symbols[found[i]]);
    return c.sized;
}

const struct csn_debug_symbol *libdw_module_symbol(struct libdw_module *m, uint64_t addr, uint64_t *offset) {
    uint32_t covering[MAX_COVERING];
    size_t count;
    if (!m->sorted_symbols.items) sort_symbols(m);
    const bool is_plain = find_covering(m, addr, covering, &count);
    const struct csn_debug_symbol *found = !is_plain ? search_all(m, addr)
                                           : count   ? best_of(m, addr, covering, count)
                                                     : find_label(m, addr);
    if (found) *offset = addr - libdw_symbol_value(found);
    return found;
}
