/* Which unit answers for an address. Units are read one after the other, until one does; those that were read are found by
 * their ranges, to which decoding adds what line table and functions cover besides. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/addr2line/bfd_damage.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

/* A range that a unit was noted for. */
struct unit_range {
    uint64_t low, high;
    uint64_t reach;          /* highest `high` of this and all before it; of the sorted ones */
    struct bfd_unit *unit;
    uint32_t order;          /* earlier ones are asked first */
};

enum { MAX_UNSORTED = 256, MAX_CANDIDATES = 256, MAX_RECENT = 128 };

struct bfd_dwarf {
    struct bfd_object *object;
    struct bfd_file file;
    struct { struct bfd_unit **items; size_t count, capacity; } units; /* as they were read */
    uint32_t next;                   /* unit to read */
    uint64_t next_offset;            /* where it begins */
    struct { struct unit_range *items; size_t count, capacity; } sorted, unsorted;
    uint32_t order;
    uint64_t bytes_read;
    uint32_t asked;                  /* units, for addresses */
    struct bfd_unit *recent[MAX_RECENT];
    size_t recent_count;
    struct bfd_unit *chain_unit;     /* of the last answer: the inlined function, whose callers are asked for */
    struct bfd_function *chain;
};

/* ---- ranges of units ---- */

static int by_low(const void *pa, const void *pb) {
    const struct unit_range *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

static void sort_ranges(struct bfd_dwarf *d) {
    for (size_t i = 0; i < d->unsorted.count; i++) GROW_PUSH(&d->sorted, d->unsorted.items[i]);
    d->unsorted.count = 0;
    if (d->sorted.count) qsort(d->sorted.items, d->sorted.count, sizeof *d->sorted.items, by_low);
    uint64_t reach = 0;
    for (size_t i = 0; i < d->sorted.count; i++) {
        if (d->sorted.items[i].high > reach) reach = d->sorted.items[i].high;
        d->sorted.items[i].reach = reach;
    }
}

/* The place after the last sorted range that begins at or below an address. */
static size_t after_low(const struct bfd_dwarf *d, uint64_t addr) {
    size_t low = UPPER_BOUND(d->sorted.items, d->sorted.count, low, addr);
    return low;
}

static bool is_known(const struct bfd_dwarf *d, const struct bfd_unit *unit, uint64_t low, uint64_t high) {
    for (size_t i = after_low(d, low); i-- > 0 && d->sorted.items[i].reach > low;)
        if (d->sorted.items[i].unit == unit && d->sorted.items[i].high >= high) return true;
    for (size_t i = 0; i < d->unsorted.count; i++)
        if (d->unsorted.items[i].unit == unit && d->unsorted.items[i].low <= low && d->unsorted.items[i].high >= high) return true;
    return false;
}

/* As BFD has it: also those that begin or end together. */
static bool overlap(const struct unit_range *a, const struct unit_range *b) {
    return a->low == b->low || a->high == b->high || (a->low < b->high && b->low < a->high);
}

/* A range that overlaps one of its unit extends that, the first noted if there are several, and keeps its turn. */
static void extend(struct unit_range *made, const struct unit_range *by, bool *is_extended) {
    if (by->unit != made->unit || !overlap(made, by) || (*is_extended && by->order > made->order)) return;
    made->order = by->order;
    *is_extended = true;
}

static void note_range(void *context, struct bfd_unit *unit, uint64_t low, uint64_t high) {
    struct bfd_dwarf *d = context;
    if (low > high || is_known(d, unit, low, high)) return;
    struct unit_range made = { low, high, 0, unit, d->order };
    bool is_extended = false;
    for (size_t i = after_low(d, high); i-- > 0 && d->sorted.items[i].reach >= low;)
        extend(&made, &d->sorted.items[i], &is_extended);
    for (size_t i = 0; i < d->unsorted.count; i++) extend(&made, &d->unsorted.items[i], &is_extended);
    if (!is_extended) d->order++;
    GROW_PUSH(&d->unsorted, made);
    if (d->unsorted.count > MAX_UNSORTED && d->unsorted.count > d->sorted.count / 8) sort_ranges(d);
}

static void add_candidate(const struct unit_range **found, size_t *count, const struct unit_range *range) {
    for (size_t i = 0; i < *count; i++)
        if (found[i]->unit == range->unit) {
            if (range->order < found[i]->order) found[i] = range;
            return;
        }
    if (*count < MAX_CANDIDATES) found[(*count)++] = range;
}

/* The units that were noted for an address, the first noted first. */
static size_t find_candidates(const struct bfd_dwarf *d, uint64_t addr, const struct unit_range **found) {
    size_t count = 0;
    for (size_t i = after_low(d, addr); i-- > 0 && d->sorted.items[i].reach > addr;)
        if (addr < d->sorted.items[i].high) add_candidate(found, &count, &d->sorted.items[i]);
    for (size_t i = 0; i < d->unsorted.count; i++)
        if (addr >= d->unsorted.items[i].low && addr < d->unsorted.items[i].high)
            add_candidate(found, &count, &d->unsorted.items[i]);
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k && found[k]->order < found[k - 1]->order; k--) {
            const struct unit_range *other = found[k];
            found[k] = found[k - 1];
            found[k - 1] = other;
        }
    return count;
}

/* ---- units ---- */

/* The next unit; NULL: there are no more, or it is damaged, which ends them. */
static struct bfd_unit *read_unit(struct bfd_dwarf *d) {
    const struct csn_debug_unit *unit;
    if (d->next >= d->object->object.info_unit_count) return NULL;
    struct bfd_unit *made = zeroed_memory(1, sizeof *made);
    if (csn_debug_info_unit(d->file.info, d->next++, &unit, NULL) != CSN_OK) {
        bfd_report_unit(&d->file, d->next_offset);
    } else if (bfd_unit_open(made, &d->file, unit)) {
        d->next_offset = unit->end;
        GROW_PUSH(&d->units, made);
        return made;
    }
    /* Ranges that were noted for it stay, and find nothing. */
    made->has_error = true;
    d->next = UINT32_MAX;
    return NULL;
}

/* Of those that were read, pages and abbreviations of a few are kept. */
static bool decode_unit(struct bfd_dwarf *d, struct bfd_unit *unit) {
    if (unit->is_decoded) return bfd_unit_decode(unit, &d->file);
    struct bfd_unit **slot = &d->recent[d->recent_count++ % MAX_RECENT];
    if (*slot) csn_debug_unit_release((*slot)->unit);
    *slot = unit;
    d->bytes_read += unit->unit->end - unit->unit->root;
    return bfd_unit_decode(unit, &d->file);
}

struct answer_parts {
    struct bfd_unit *unit;
    struct bfd_function *function;
};

/* Names are read where units stand that were read long ago: those pages leave memory, too. */
static void forget_pages(struct bfd_dwarf *d) {
    enum { ASKED = 64 };
    if (++d->asked % ASKED) return;
    csn_debug_info_forget_section(d->file.info, "info", 0, UINT64_MAX);
    csn_debug_info_forget_section(d->file.info, "line", 0, UINT64_MAX);
}

static bool ask_unit(struct bfd_dwarf *d, struct bfd_unit *unit, uint64_t addr, struct bfd_answer *out,
                     struct answer_parts *parts) {
    forget_pages(d);
    if (!decode_unit(d, unit)) return false;
    struct bfd_function *function = bfd_unit_function_at(unit, addr);
    const struct bfd_row *row = bfd_lines_find(unit->lines, addr);
    parts->function = function;
    parts->unit = unit;
    if (function && function->tag == 0x1d /* DW_TAG_inlined_subroutine */) {
        d->chain = function;
        d->chain_unit = unit;
    }
    out->file = row ? bfd_lines_path(unit->lines, row->file, row->file_unset) : NULL;
    if (row) {
        out->line = row->line;
        out->discriminator = row->discriminator;
    }
    return row || function;
}

static bool find_code(struct bfd_dwarf *d, uint64_t addr, struct bfd_answer *out, struct answer_parts *parts) {
    const struct unit_range *candidates[MAX_CANDIDATES];
    size_t count = find_candidates(d, addr, candidates);
    struct bfd_unit *units[MAX_CANDIDATES];
    for (size_t i = 0; i < count; i++) units[i] = candidates[i]->unit;
    for (size_t i = 0; i < count; i++)
        if (ask_unit(d, units[i], addr, out, parts)) return true;
    for (struct bfd_unit *unit; (unit = read_unit(d));)
        if ((!unit->ranges.count || bfd_unit_contains(unit, addr)) && ask_unit(d, unit, addr, out, parts)) return true;
    return false;
}

/* ---- data ---- */

static bool ask_variable(struct bfd_dwarf *d, struct bfd_unit *unit, const char *symbol, uint64_t addr, struct bfd_answer *out) {
    return decode_unit(d, unit) && bfd_unit_variable(unit, &d->file, symbol, addr, &out->file, &out->line);
}

static bool find_data(struct bfd_dwarf *d, const char *symbol, uint64_t addr, struct bfd_answer *out) {
    for (size_t i = d->units.count; i-- > 0;)
        if (ask_variable(d, d->units.items[i], symbol, addr, out)) return true;
    for (struct bfd_unit *unit; (unit = read_unit(d));)
        if (ask_variable(d, unit, symbol, addr, out)) return true;
    return false;
}

/* The symbol at an offset of a section without code: the first global one, else the last. */
static const struct bfd_symbol *data_symbol(const struct bfd_object *o, const struct bfd_section *section, uint64_t offset) {
    const struct bfd_symbol *found = NULL;
    for (size_t i = 0; i < o->symbol_count; i++) {
        const struct csn_debug_symbol *symbol = o->symbols[i].symbol;
        if (symbol->section != section->idx || symbol->addr - section->addr != offset ||
            symbol->kind == CSN_SYMBOL_SECTION)
            continue;
        found = &o->symbols[i];
        if (symbol->bind == CSN_BIND_GLOBAL) break;
    }
    return found;
}

/* ---- answers ---- */

/* The name of the function, where DWARF has no name of the linker's, is that of the symbol. */
static bool name_function(struct bfd_dwarf *d, const struct bfd_section *section, uint64_t offset, const struct answer_parts *parts,
                          bool found, struct bfd_answer *out) {
    struct bfd_function *function = parts->function;
    const char *name = function ? bfd_function_name(parts->unit, function) : NULL;
    if (function && function->is_linkage) {
        out->function = name;
        return true;
    }
    const struct bfd_function_symbol *symbol = bfd_find_function(d->object, section, offset);
    if (symbol) {
        out->function = symbol->name;
        if (!out->file) out->file = symbol->file;
    }
    if (function) {
        if (!symbol) out->function = name;
        else if (symbol->value + section->addr == function->low) {
            free(function->name);
            function->name = copy_text(symbol->name, strlen(symbol->name));
        }
        function->is_linkage = true;
    }
    return found || symbol;
}

bool bfd_find_nearest_line(struct bfd_dwarf *d, const struct bfd_section *section, uint64_t offset, struct bfd_answer *out) {
    struct answer_parts parts = { NULL, NULL };
    bool found = false;
    *out = (struct bfd_answer){ 0 };
    d->chain = NULL;
    if (d->object->object.info_unit_count) {
        const struct bfd_symbol *symbol = section->is_code || !d->object->symbols ? NULL : data_symbol(d->object, section, offset);
        if (!symbol) found = find_code(d, section->addr + offset, out, &parts);
        else if (symbol->symbol->kind != CSN_SYMBOL_FUNCTION) found = find_data(d, symbol->name, section->addr + offset, out);
    }
    found = name_function(d, section, offset, &parts, found, out);
    if (d->object->is_elf) return found;
    out->discriminator = 0; /* BFD does not ask for it there */
    if (found || !d->object->symbols) return found;
    *out = (struct bfd_answer){ .file = bfd_coff_file(d->object, section, section->addr + offset) };
    return true;
}

bool bfd_find_inliner(struct bfd_dwarf *d, struct bfd_answer *out) {
    if (!d->chain || d->chain->caller == BFD_NO_FUNCTION) return false;
    struct bfd_function *caller = &d->chain_unit->functions.items[d->chain->caller];
    bfd_function_call(d->chain_unit, d->chain, &out->file, &out->line);
    out->function = bfd_function_name(d->chain_unit, caller);
    d->chain = caller;
    return true;
}

uint64_t bfd_dwarf_bytes_read(const struct bfd_dwarf *d) { return d->bytes_read; }

struct bfd_dwarf *bfd_dwarf_open(struct bfd_object *object, bool reads_units) {
    struct bfd_dwarf *d = zeroed_memory(1, sizeof *d);
    d->object = object;
    if (!reads_units) d->next = UINT32_MAX;
    d->file = (struct bfd_file){ .info = object->info, .big_endian = object->object.big_endian, .add_range = note_range,
                                 .context = d,
                                 .program = object->program };
    (void)csn_debug_info_dwarf_section(object->info, "ranges", &d->file.range_section, NULL);
    (void)csn_debug_info_dwarf_section(object->info, "rnglists", &d->file.rnglist_section, NULL);
    return d;
}

void bfd_dwarf_close(struct bfd_dwarf *d) {
    for (size_t i = 0; i < d->units.count; i++) {
        bfd_unit_close(d->units.items[i]);
        free(d->units.items[i]);
    }
    bfd_lines_free(d->file.first_lines);
    free(d->units.items);
    free(d->sorted.items);
    free(d->unsorted.items);
    free(d);
}
