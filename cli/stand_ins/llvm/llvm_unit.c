/* Functions, rows and variables of a unit. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_damage.h"
#include "stand_ins/llvm/llvm_locations.h"
#include "stand_ins/llvm/llvm_module.h"
#include "ui/bounds.h"

/* ---- functions ---- */

static void add_spans(struct llvm_module *m, struct llvm_unit *u, const struct csn_range *ranges, size_t count, uint32_t idx) {
    count = llvm_listed_ranges(m, u->code, ranges, count);
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].start >= ranges[i].end) continue;
        uint64_t low = llvm_raw_addr(m, ranges[i].start, NULL);
        const struct llvm_span span = { low, low + (ranges[i].end - ranges[i].start), (uint32_t)u->spans.count, idx };
        GROW_PUSH(&u->spans, span);
    }
}

static int by_low(const void *pa, const void *pb) {
    const struct llvm_span *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int by_order(const void *pa, const void *pb) {
    const struct llvm_span *a = pa, *b = pb;
    return a->order < b->order ? -1 : a->order > b->order;
}

struct spans {
    struct llvm_span *items;
    size_t count, capacity;
};

/* The place after the last one that begins at or below an address. */
static size_t after_low(const struct llvm_span *items, size_t count, uint64_t addr) {
    size_t low = UPPER_BOUND(items, count, low, addr);
    return low;
}

/* Sets the span that begins at span->low, which may be a new one. */
static void set_span(struct spans *map, struct llvm_span span) {
    size_t at = after_low(map->items, map->count, span.low);
    if (at && map->items[at - 1].low == span.low) {
        map->items[at - 1] = span;
        return;
    }
    GROW_PUSH(map, span);
    memmove(map->items + at + 1, map->items + at, (map->count - 1 - at) * sizeof span);
    map->items[at] = span;
}

/* Puts a span into those that came before, of which it cuts the one that it begins in. That is all that LLVM does; where functions
 * overlap (discarded ones all begin at 0), what is left of earlier ones follows from it. */
static void insert_span(struct spans *map, const struct llvm_span *span) {
    size_t at = after_low(map->items, map->count, span->low);
    if (at && span->low < map->items[at - 1].high) {
        struct llvm_span rest = map->items[at - 1];
        if (span->low > rest.low) map->items[at - 1].high = span->low;
        rest.low = span->high;
        if (span->high < rest.high) set_span(map, rest);
    }
    set_span(map, *span);
}

static void sort_spans(struct llvm_span *items, size_t count, int (*compare)(const void *, const void *)) {
    for (size_t i = 1; i < count; i++) /* often they are in order */
        if (compare(&items[i - 1], &items[i]) > 0) {
            qsort(items, count, sizeof *items, compare);
            return;
        }
}

static void add_piece(struct spans *to, const struct llvm_span *of, uint64_t low, uint64_t high) {
    const struct llvm_span made = { low, high, of->order, of->idx };
    if (low < high) GROW_PUSH(to, made);
}

/* Cuts spans, sorted by their begin, that nest: each is within the one around it, which comes before it in the unit.
 * False: they do not, and nothing is added. `open` is for those that are around. */
static bool cut_nested_spans(const struct llvm_span *items, size_t count, struct spans *open, struct spans *to) {
    const size_t before = to->count;
    uint64_t reached = items[0].low;
    open->count = 0;
    for (size_t i = 0; i < count; i++) {
        for (; open->count && open->items[open->count - 1].high <= items[i].low; reached = open->items[--open->count].high)
            add_piece(to, &open->items[open->count - 1], reached, open->items[open->count - 1].high);
        const struct llvm_span *around = open->count ? &open->items[open->count - 1] : NULL;
        if (around && (items[i].high > around->high || items[i].order < around->order)) {
            to->count = before;
            return false;
        }
        if (around) add_piece(to, around, reached, items[i].low);
        reached = items[i].low;
        GROW_PUSH(open, items[i]);
    }
    for (; open->count; reached = open->items[--open->count].high)
        add_piece(to, &open->items[open->count - 1], reached, open->items[open->count - 1].high);
    return true;
}

/* Spans that overlap, one group after the other. */
static void cut_spans(struct llvm_unit *u) {
    struct spans all = { 0 }, map = { 0 };
    const size_t count = u->spans.count;
    sort_spans(u->spans.items, count, by_low);
    for (size_t begin = 0, end; begin < count; begin = end) {
        uint64_t reach = u->spans.items[begin].high;
        for (end = begin + 1; end < count && u->spans.items[end].low < reach; end++)
            if (u->spans.items[end].high > reach) reach = u->spans.items[end].high;
        if (cut_nested_spans(u->spans.items + begin, end - begin, &map, &all)) continue;
        sort_spans(u->spans.items + begin, end - begin, by_order);
        map.count = 0;
        for (size_t i = begin; i < end; i++) insert_span(&map, &u->spans.items[i]);
        for (size_t i = 0; i < map.count; i++) GROW_PUSH(&all, map.items[i]);
    }
    free(map.items);
    free(u->spans.items);
    u->spans.items = all.items;
    u->spans.count = all.count;
    u->spans.capacity = all.capacity;
}

static void read_functions(struct llvm_module *m, struct llvm_unit *u) {
    struct csn_debug_functions *found;
    if (csn_debug_unit_functions(u->code, &found, NULL) != CSN_OK) return;
    for (size_t i = 0; i < found->count; i++) {
        const struct csn_debug_function *f = &found->items[i];
        const struct llvm_die made = { f->offset, f->tag, f->parent };
        GROW_PUSH(&u->dies, made);
        add_spans(m, u, found->ranges + f->first_range, f->range_count, (uint32_t)i);
    }
    csn_debug_functions_free(found);
    cut_spans(u);
}

uint32_t llvm_unit_function(struct llvm_module *m, struct llvm_unit *u, uint64_t addr) {
    if (!u->has_functions) {
        read_functions(m, u);
        m->bytes_read += u->unit->end - u->unit->offset;
    }
    u->has_functions = true;
    size_t at = after_low(u->spans.items, u->spans.count, addr);
    return at && addr < u->spans.items[at - 1].high ? u->spans.items[at - 1].idx : LLVM_NO_PARENT;
}

/* ---- rows ---- */

static int by_end(const void *pa, const void *pb) {
    const struct llvm_sequence *a = pa, *b = pb;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

static bool is_named(struct csn_str name, const char *text) {
    return name.len == strlen(text) && memcmp(name.ptr, text, name.len) == 0;
}

/* Addresses of line tables that are not relocated belong to no section. In COFF relocations have no section of their own. */
static bool has_line_relocations(const struct llvm_module *m) {
    if (m->object.container == CSN_CONTAINER_PE) return llvm_is_unlinked(m);
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK) continue;
        if (is_named(s.name, ".rela.debug_line") || is_named(s.name, ".rel.debug_line")) return true;
    }
    return false;
}

static bool is_odd(const struct csn_debug_lines *lines) {
    const bool is_ended = !lines->row_count || lines->rows[lines->row_count - 1].flags & CSN_LINE_END_SEQUENCE;
    return lines->is_damaged || !is_ended;
}

static struct llvm_lines *read_lines(struct llvm_module *m, const struct csn_debug_unit *unit) {
    struct csn_debug_lines *lines;
    const csn_status status = csn_debug_unit_lines(unit, &lines, NULL);
    if (m->reports_damage && (status < 0 || (status == CSN_OK && is_odd(lines)))) llvm_report_lines(m, unit);
    if (status != CSN_OK) return NULL;
    struct llvm_lines *l = zeroed_memory(1, sizeof *l);
    l->lines = lines;
    size_t first = 0;
    const bool is_relocated = has_line_relocations(m);
    for (size_t i = 0; i < lines->row_count; i++) {
        if (!(lines->rows[i].flags & CSN_LINE_END_SEQUENCE)) continue;
        struct llvm_sequence made = { .first = first, .count = i + 1 - first };
        made.low = lines->rows[first].addr;
        if (is_relocated) made.low = llvm_raw_addr(m, made.low, &made.section);
        made.high = made.low + (lines->rows[i].addr - lines->rows[first].addr);
        first = i + 1;
        if (made.low >= made.high) continue;
        l->sequences = grow_items(l->sequences, l->sequence_count + 1, &l->sequence_capacity, sizeof *l->sequences);
        l->sequences[l->sequence_count++] = made;
    }
    if (l->sequence_count) qsort(l->sequences, l->sequence_count, sizeof *l->sequences, by_end);
    return l;
}

struct llvm_lines *llvm_unit_lines(struct llvm_module *m, struct llvm_unit *u) {
    if (!u->has_lines) u->lines = read_lines(m, u->unit);
    u->has_lines = true;
    return u->lines;
}

struct llvm_lines *llvm_die_lines(struct llvm_module *m, const struct csn_debug_die *die) {
    const struct csn_debug_unit *unit = die->unit;
    if (unit->is_split && unit->priv[2]) unit = unit->priv[2];
    struct llvm_unit *own = llvm_module_unit_at(m, unit->idx);
    return own && own->unit == unit ? llvm_unit_lines(m, own) : NULL;
}

const struct csn_debug_row *llvm_lines_find(const struct llvm_lines *l, struct llvm_place place, bool skip_zero,
                                            bool *approximate) {
    size_t low = 0, high = l->sequence_count;
    *approximate = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct llvm_sequence *s = &l->sequences[mid];
        if (s->section < place.section || (s->section == place.section && s->high <= place.addr)) low = mid + 1;
        else high = mid;
    }
    if (low == l->sequence_count) return NULL;
    const struct llvm_sequence *s = &l->sequences[low];
    if (s->section != place.section || place.addr < s->low || place.addr >= s->high) return NULL;
    const struct csn_debug_row *rows = l->lines->rows + s->first;
    const uint64_t addr = place.addr - s->low + rows[0].addr;
    size_t at = 1, end = s->count - 1;
    while (at < end) {
        size_t mid = at + (end - at) / 2;
        if (rows[mid].addr <= addr) at = mid + 1;
        else end = mid;
    }
    at--;
    if (!skip_zero || rows[at].line) return &rows[at];
    for (size_t i = at; i-- > 0;)
        if (rows[i].line) {
            *approximate = true;
            return &rows[i];
        }
    return &rows[at];
}

/* ---- variables ---- */

static bool is_type(uint32_t tag) {
    switch (tag) {
    case 0x01: case 0x02: case 0x04: case 0x0f: case 0x10: case 0x12: case 0x13: case 0x15: case 0x16: case 0x17: case 0x1f: case 0x20:
    case 0x21: case 0x24: case 0x26: case 0x29: case 0x2d: case 0x35: case 0x37: case 0x38: case 0x3b: case 0x40: case 0x42: case 0x43:
    case 0x44: case 0x45: case 0x46: case 0x47: case 0x4b: return true;
    default: return false;
    }
}

static uint64_t take_uleb(const unsigned char **p, const unsigned char *end) {
    uint64_t value = 0;
    for (unsigned shift = 0; *p < end; shift += 7) {
        unsigned char b = *(*p)++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) break;
    }
    return value;
}

/* DW_OP_addr or DW_OP_addrx, perhaps DW_OP_plus_uconst, and no more. LLVM relocates .debug_addr, but no operand of an
 * expression: in ELF that is 0 then, and in COFF the offset from a section. */
static bool static_address(const struct llvm_module *m, const struct csn_debug_die *die, struct csn_str expression, uint64_t *out) {
    enum { DW_OP_addr = 0x03, DW_OP_plus_uconst = 0x23, DW_OP_addrx = 0xa1 };
    const unsigned addr_size = die->unit->address_size;
    const unsigned char *p = (const unsigned char *)expression.ptr, *end = p + expression.len;
    if (p == end) return false;
    if (*p == DW_OP_addrx) {
        p++;
        if (csn_debug_unit_address(die->unit, take_uleb(&p, end), out) != CSN_OK) return false;
        *out = llvm_raw_addr(m, *out, NULL);
    } else {
        if (*p++ != DW_OP_addr || (size_t)(end - p) < addr_size) return false;
        *out = 0;
        for (unsigned i = 0; i < addr_size; i++) *out |= (uint64_t)p[i] << 8 * (m->object.big_endian ? addr_size - 1 - i : i);
        *out = llvm_is_unlinked(m) && m->object.container == CSN_CONTAINER_ELF ? 0 : llvm_raw_addr(m, *out, NULL);
        p += addr_size;
    }
    if (p == end) return true;
    if (*p++ != DW_OP_plus_uconst) return false;
    *out += take_uleb(&p, end);
    return p == end;
}

/* A variable that is in registers may be in memory for a while: each of its places counts. */
static void add_places(struct llvm_module *m, struct llvm_unit *u, const struct csn_debug_die *die) {
    struct llvm_locations locations = llvm_die_locations(m, die);
    struct csn_str expression;
    while (m->locations_left && llvm_locations_next(&locations, &expression)) {
        m->locations_left--;
        struct llvm_variable made = { .size = 1, .die = *die };
        struct csn_debug_value type;
        if (!static_address(m, die, expression, &made.addr)) continue;
        if (csn_debug_die_attribute(die, DW_AT_type, &type) == CSN_OK) (void)llvm_type_size(die, &made.size);
        GROW_PUSH(&u->variables, made);
    }
}

static int by_variable(const void *pa, const void *pb) {
    const struct llvm_variable *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->die.offset < b->die.offset ? -1 : a->die.offset > b->die.offset;
}

static void read_variables(struct llvm_module *m, struct llvm_unit *u) {
    struct csn_debug_die die;
    size_t depth = 0, type_depth = SIZE_MAX;
    /* LLVM does not look into split DWARF for them. */
    if (csn_debug_die_at(u->unit, u->unit->root, &die, NULL) != CSN_OK || !die.has_children) return;
    for (uint64_t offset = die.next; offset < u->unit->end;) {
        csn_status status = csn_debug_die_at(u->unit, offset, &die, NULL);
        offset = die.next;
        if (status < 0) break;
        if (status == CSN_NONE) {
            if (!depth--) break;
            if (depth == type_depth) type_depth = SIZE_MAX;
            continue;
        }
        if (type_depth == SIZE_MAX && die.tag == DW_TAG_variable) add_places(m, u, &die);
        if (!die.has_children) continue;
        if (type_depth == SIZE_MAX && is_type(die.tag)) type_depth = depth;
        depth++;
    }
    if (u->variables.count) qsort(u->variables.items, u->variables.count, sizeof *u->variables.items, by_variable);
}

const struct llvm_variable *llvm_unit_variable(struct llvm_module *m, struct llvm_unit *u, uint64_t addr) {
    if (!u->has_variables) read_variables(m, u);
    u->has_variables = true;
    size_t low = UPPER_BOUND(u->variables.items, u->variables.count, addr, addr);
    if (!low) return NULL;
    const struct llvm_variable *v = &u->variables.items[low - 1];
    return addr < v->addr + v->size ? v : NULL;
}

void llvm_unit_free(struct llvm_unit *u) {
    if (!u) return;
    free(u->dies.items);
    free(u->spans.items);
    free(u->variables.items);
    if (u->lines) {
        csn_debug_lines_free(u->lines->lines);
        free(u->lines->sequences);
        free(u->lines);
    }
    free(u);
}
