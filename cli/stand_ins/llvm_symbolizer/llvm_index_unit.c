/* Rows, functions and inlined calls of a unit. */
#include "stand_ins/llvm_symbolizer/llvm_index_unit.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

enum { NOT_YET = UINT32_MAX - 2 };  /* of numbers that are found once */
enum { NAME_SLOTS = 1024 };         /* names of inlined functions that are remembered */

struct adding {
    const struct llvm_index_output *out;
    struct llvm_module *module;
    struct llvm_unit *unit;
    const struct llvm_lines *lines;
    uint32_t *files;         /* by number in the line table */
    size_t file_count;
    uint32_t *scopes;        /* by DIE of the unit */
    struct { uint64_t origin; uint32_t name; } names[NAME_SLOTS]; /* origin 0: free */
};

/* ---- texts ---- */

static uint32_t find_file(struct adding *a, uint64_t number) {
    if (!a->lines || number >= a->file_count) return ADDRESS_NONE;
    if (a->files[number] != NOT_YET) return a->files[number];
    char *path = llvm_file_path(a->lines, number, a->out->paths);
    a->files[number] = path ? address_texts_add_file(a->out->texts, path) : ADDRESS_NONE;
    free(path);
    return a->files[number];
}

static uint32_t find_name(struct adding *a, const struct csn_debug_die *die) {
    struct csn_str name;
    return llvm_function_name(die, LLVM_NAME_LINKAGE, &name) ? address_texts_add(a->out->texts, name.ptr, name.len) : ADDRESS_NONE;
}

/* ---- functions and calls ---- */

/* What the attributes of a DIE tell in one pass. */
struct call_facts {
    uint64_t file, line, column, discriminator, origin;
    bool has_own_name;       /* or refers to other DIEs than one of the same unit */
};

static struct call_facts read_facts(const struct csn_debug_die *die) {
    struct call_facts f = { 0 };
    struct csn_debug_value value;
    uint32_t name;
    for (uint64_t position = 0; csn_debug_die_next_attribute(die, &position, &name, &value) == CSN_OK;) {
        switch (name) {
        case DW_AT_call_file: f.file = value.number; break;
        case DW_AT_call_line: f.line = value.number; break;
        case DW_AT_call_column: f.column = value.number; break;
        case DW_AT_GNU_discriminator: f.discriminator = value.number; break;
        case DW_AT_name: case DW_AT_linkage_name: case DW_AT_MIPS_linkage_name: case DW_AT_specification:
            f.has_own_name = true;
            break;
        case DW_AT_abstract_origin:
            f.origin = value.number;
            if (value.form != DW_FORM_ref4) f.has_own_name = true;
            break;
        default: break;
        }
    }
    return f;
}

/* Most calls are of few functions. */
static uint32_t find_call_name(struct adding *a, const struct csn_debug_die *die, const struct call_facts *f) {
    if (!f->origin || f->has_own_name) return find_name(a, die);
    const size_t slot = (size_t)(f->origin * UINT64_C(0x9e3779b97f4a7c15) >> 54);
    if (a->names[slot].origin != f->origin) {
        a->names[slot].name = find_name(a, die);
        a->names[slot].origin = f->origin;
    }
    return a->names[slot].name;
}

/* The scope of a DIE; ADDRESS_UNKNOWN: it cannot be told. */
static uint32_t find_scope(struct adding *a, uint32_t idx) {
    struct csn_debug_die die;
    const struct llvm_die *at = &a->unit->dies.items[idx];
    if (a->scopes[idx] != NOT_YET) return a->scopes[idx];
    a->scopes[idx] = ADDRESS_UNKNOWN;
    if (csn_debug_die_at(a->unit->code, at->offset, &die, NULL) != CSN_OK) return ADDRESS_UNKNOWN;
    const struct call_facts f = read_facts(&die);
    struct address_scope made = { .parent = ADDRESS_NONE, .call_file = ADDRESS_NONE, .call_line = (uint32_t)f.line,
                                  .call_column = (uint32_t)f.column, .call_discriminator = (uint32_t)f.discriminator };
    if (at->tag != DW_TAG_subprogram && at->parent != LLVM_NO_PARENT) {
        made.parent = find_scope(a, at->parent);
        made.call_file = find_file(a, f.file);
        if (made.parent == ADDRESS_UNKNOWN) return ADDRESS_UNKNOWN;
    }
    made.name = find_call_name(a, &die, &f);
    a->scopes[idx] = (uint32_t)a->out->part->scopes.count;
    GROW_PUSH(&a->out->part->scopes, made);
    return a->scopes[idx];
}

static bool is_wanted(const struct llvm_index_output *out, uint64_t low, uint64_t high) {
    size_t at = 0;
    for (size_t end = out->addr_count; at < end;) {
        const size_t middle = at + (end - at) / 2;
        if (out->addrs[middle] < low) at = middle + 1;
        else end = middle;
    }
    return !out->addrs || (at < out->addr_count && out->addrs[at] < high);
}

static void add_spans(struct adding *a, uint64_t low, uint64_t high) {
    const struct llvm_index_output *out = a->out;
    const struct llvm_span *spans = a->unit->spans.items;
    const size_t count = a->unit->spans.count;
    size_t at = UPPER_BOUND(spans, count, low, low);
    uint64_t reached = low;
    if (at) at--;
    for (; at < count && spans[at].low < high; at++) {
        const uint64_t begin = spans[at].low > low ? spans[at].low : low, end = spans[at].high < high ? spans[at].high : high;
        if (begin >= end) continue;
        if (begin > reached) address_part_add_span(out->part, (uint32_t)(reached - out->base), ADDRESS_NONE);
        address_part_add_span(out->part, (uint32_t)(begin - out->base),
                              is_wanted(out, begin, end) ? find_scope(a, spans[at].idx) : ADDRESS_UNKNOWN);
        reached = end;
    }
    if (reached < high) address_part_add_span(out->part, (uint32_t)(reached - out->base), ADDRESS_NONE);
}

/* ---- rows ---- */

static const struct address_wide_row no_row = { .file = ADDRESS_UNKNOWN }; /* but a unit */

static struct address_wide_row row_of(struct adding *a, const struct csn_debug_row *row) {
    const struct address_wide_row made = { find_file(a, row->file), row->line, row->column, row->discriminator };
    return made.file == ADDRESS_NONE ? no_row : made;
}

/* Rows of a sequence within [begin, end), which it covers. */
static void add_sequence(struct adding *a, const struct llvm_sequence *s, uint64_t begin, uint64_t end) {
    const struct csn_debug_row *rows = a->lines->lines->rows + s->first;
    const size_t count = s->count - 1; /* without the end */
    size_t at = UPPER_BOUND(rows, count, addr, begin);
    if (at) at--;
    while (at < count && rows[at].addr < end) {
        const uint64_t from = rows[at].addr > begin ? rows[at].addr : begin;
        while (at + 1 < count && rows[at + 1].addr <= from) at++;
        const struct address_wide_row made = row_of(a, &rows[at++]);
        address_part_add_row(a->out->part, (uint32_t)(from - a->out->base), &made);
    }
}

/* A search among sequences takes the first that ends above the address. */
static void add_rows(struct adding *a, uint64_t low, uint64_t high) {
    const struct llvm_index_output *out = a->out;
    const struct llvm_sequence *sequences = a->lines ? a->lines->sequences : NULL;
    const size_t count = a->lines ? a->lines->sequence_count : 0;
    uint64_t reached = low;
    for (size_t i = UPPER_BOUND(sequences, count, high, low); i < count && reached < high; i++) {
        const uint64_t begin = sequences[i].low > reached ? sequences[i].low : reached,
                       end = sequences[i].high < high ? sequences[i].high : high;
        if (begin >= end) continue;
        if (begin > reached) address_part_add_row(out->part, (uint32_t)(reached - out->base), &no_row);
        add_sequence(a, &sequences[i], begin, end);
        reached = end;
    }
    if (reached < high) address_part_add_row(out->part, (uint32_t)(reached - out->base), &no_row);
}

/* Whether a search among the rows of each sequence finds the last one at or below an address. */
static bool rows_ascend(const struct llvm_lines *lines) {
    for (size_t i = 0; i < lines->sequence_count; i++) {
        const struct llvm_sequence *s = &lines->sequences[i];
        for (size_t k = s->first + 1; k + 1 < s->first + s->count; k++)
            if (lines->lines->rows[k].addr < lines->lines->rows[k - 1].addr) return false;
    }
    return true;
}

/* Returns the chunk. */
static uint32_t add_range(struct adding *a, uint64_t low, uint64_t high, bool is_known) {
    const struct llvm_index_output *out = a->out;
    if (low < out->base) low = out->base;
    if (high > out->base + out->size) high = out->base + out->size;
    if (low >= high) return ADDRESS_NONE;
    address_part_begin(out->part, (uint32_t)(low - out->base));
    if (is_known) {
        add_spans(a, low, high);
        add_rows(a, low, high);
    } else {
        address_part_add_span(out->part, (uint32_t)(low - out->base), ADDRESS_UNKNOWN);
    }
    address_part_end(out->part, (uint32_t)(high - out->base));
    return (uint32_t)out->part->chunks.count - 1;
}

void llvm_index_add_unit(const struct llvm_index_output *out, struct llvm_module *m, struct llvm_unit *unit,
                         const struct llvm_unit_range *ranges, const uint32_t *range_indexes, size_t count, uint32_t *chunks) {
    struct adding *a = zeroed_memory(1, sizeof *a);
    *a = (struct adding){ .out = out, .module = m, .unit = unit };
    (void)llvm_unit_function(m, unit, 0); /* reads them */
    a->lines = llvm_unit_lines(m, unit);
    a->file_count = a->lines ? (size_t)a->lines->lines->file_count + 2 : 0;
    a->files = zeroed_memory(a->file_count, sizeof *a->files);
    a->scopes = zeroed_memory(unit->dies.count, sizeof *a->scopes);
    for (size_t i = 0; i < a->file_count; i++) a->files[i] = NOT_YET;
    for (size_t i = 0; i < unit->dies.count; i++) a->scopes[i] = NOT_YET;
    const bool is_known = !a->lines || rows_ascend(a->lines);
    for (size_t i = 0; i < count; i++) {
        const uint32_t chunk = add_range(a, ranges[range_indexes[i]].low, ranges[range_indexes[i]].high, is_known);
        if (chunks) chunks[range_indexes[i]] = chunk;
    }
    free(a->files);
    free(a->scopes);
    free(a);
}
