/* Inlined calls of one function. The program numbers them; a list of values by address names the innermost one, a tree
 * tells what each was inlined into. */
#include "base/core/search.h"
#include "go/go_private.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint32_t NOWHERE = UINT32_MAX;

/* Where the function's tree is. CSN_NONE: it has none. */
static csn_status find_tree(const struct csni_go_table *t, const struct csni_go_record *record, struct csni_span *out) {
    uint64_t value;
    unsigned size = t->version >= CSNI_GO_1_18 ? 4 : t->pointer_size;
    if (record->func_data_count <= t->inline_func_data || !t->has_func_data) return CSN_NONE;
    uint64_t off = record->func_data + (uint64_t)t->inline_func_data * size;
    if (t->version < CSNI_GO_1_18) {
        if (!csni_go_pointer_at(t, record->addr + off, &value) || !value) return CSN_NONE;
    } else {
        if (!csni_go_number_at(record->bytes, off, 4, t->big_endian, &value) || value == UINT32_MAX) return CSN_NONE;
        value += t->func_data;
    }
    return csni_go_bytes_at(&t->image, value, out) ? CSN_OK : CSN_NONE;
}

/* ---- numbers ---- */

/* Reads one call of the tree up to 1.19. */
static bool read_old(const struct csni_go_table *t, struct csni_span tree, uint32_t unit, struct csni_go_number *n) {
    uint64_t at = (uint64_t)n->index * GO_INLINED_1_12_SIZE, parent, file, line, name;
    if (!csni_go_number_at(tree, at, 2, t->big_endian, &parent) ||
        !csni_go_number_at(tree, at + GO_INLINED_1_12_FILE, 4, t->big_endian, &file) ||
        !csni_go_number_at(tree, at + GO_INLINED_1_12_LINE, 4, t->big_endian, &line) ||
        !csni_go_number_at(tree, at + GO_INLINED_1_12_NAME, 4, t->big_endian, &name))
        return false;
    n->parent = (int16_t)parent;
    n->call_file = csni_go_file_number(t, unit, (int32_t)file);
    n->call_line = (uint32_t)line;
    n->name = (uint32_t)name;
    return true;
}

/* Since 1.20 the caller is what the lists say of an instruction of its own. */
static bool read_new(const struct csni_go_reader *r, struct csni_span tree, uint32_t unit, struct csni_go_number *n) {
    const struct csni_go_table *t = r->table;
    uint64_t at = (uint64_t)n->index * GO_INLINED_1_20_SIZE, name, pc;
    if (!csni_go_number_at(tree, at + GO_INLINED_1_20_NAME, 4, t->big_endian, &name) ||
        !csni_go_number_at(tree, at + GO_INLINED_1_20_PARENT_PC, 4, t->big_endian, &pc))
        return false;
    n->parent = csni_go_value_at(&r->inlined, (uint32_t)pc);
    n->call_file = csni_go_file_number(t, unit, csni_go_value_at(&r->files, (uint32_t)pc));
    int32_t line = csni_go_value_at(&r->lines, (uint32_t)pc);
    n->call_line = line > 0 ? (uint32_t)line : 0;
    n->name = (uint32_t)name;
    return true;
}

static csn_status read_go_inline_number(struct csni_go_reader *r, struct csni_span tree, uint32_t unit,
                                        struct csni_go_number *n,
                                        struct csn_error *err) {
    CSNI_TRY(csni_go_charge(r, 1, err));
    bool read = r->table->version < CSNI_GO_1_20 ? read_old(r->table, tree, unit, n) : read_new(r, tree, unit, n);
    if (!read)
        return csni_fail(err, CSN_E_TRUNCATED, CSNI_GO_SECTION, 0,
                         "inlined call %d lies outside of its section's bytes, 0x%zx are left", n->index, tree.size);
    /* The compiler numbers callers first. */
    if (n->parent >= n->index)
        return csni_fail(err, CSN_E_FORMAT, CSNI_GO_SECTION, 0, "inlined call %d has caller %d, need a lower number", n->index,
                         n->parent);
    if (n->parent < 0) n->parent = -1;
    return CSN_OK;
}

static int by_index(const void *pa, const void *pb) {
    const struct csni_go_number *a = pa, *b = pb;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_numbers(struct csni_go_reader *r) {
    struct csni_go_number *n = r->numbers.items;
    size_t kept = 0;
    if (r->numbers.count) qsort(n, r->numbers.count, sizeof *n, by_index);
    for (size_t i = 0; i < r->numbers.count; i++)
        if (!kept || n[kept - 1].index != n[i].index) n[kept++] = n[i];
    r->numbers.count = kept;
}

static inline bool is_index_below(const void *context, size_t at, const void *key) {
    const struct csni_go_number *numbers = context;
    return numbers[at].index < *(const int32_t *)key;
}

/* The place of a number among the first `count`, which ascend; NOWHERE. */
static uint32_t position_of(const struct csni_go_reader *r, size_t count, int32_t index) {
    size_t at = csni_search_in(0, count, is_index_below, r->numbers.items, &index);
    return at < count && r->numbers.items[at].index == index ? (uint32_t)at : NOWHERE;
}

/* Those that the list names, and all they were inlined into. */
static csn_status collect(struct csni_go_reader *r, struct csni_span tree, uint32_t unit, struct csn_error *err) {
    r->numbers.count = 0;
    for (size_t i = 0; i < r->inlined.count; i++)
        if (r->inlined.items[i].value >= 0 &&
            !csni_vec_push(&r->numbers, ((struct csni_go_number){ .index = r->inlined.items[i].value })))
            return csni_fail_memory(err, 1);
    sort_numbers(r);
    size_t named = r->numbers.count;
    for (size_t i = 0; i < r->numbers.count; i++) {
        CSNI_TRY(read_go_inline_number(r, tree, unit, &r->numbers.items[i], err));
        int32_t parent = r->numbers.items[i].parent;
        if (parent >= 0 && position_of(r, named, parent) == NOWHERE &&
            !csni_vec_push(&r->numbers, ((struct csni_go_number){ .index = parent })))
            return csni_fail_memory(err, 1);
    }
    sort_numbers(r);
    return CSN_OK;
}

/* ---- tree ---- */

/* Callers stand before those they call. Lists of children ascend. */
static void link_numbers(struct csni_go_reader *r, uint32_t *first_root) {
    struct csni_go_number *n = r->numbers.items;
    uint32_t count = (uint32_t)r->numbers.count;
    *first_root = NOWHERE;
    for (uint32_t i = 0; i < count; i++) {
        n[i].parent_position = n[i].parent < 0 ? NOWHERE : position_of(r, i, n[i].parent);
        n[i].depth = n[i].parent_position == NOWHERE ? 1 : n[n[i].parent_position].depth + 1;
        n[i].first_child = n[i].next_sibling = NOWHERE;
        n[i].part_count = 0;
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t *list = n[i].parent_position == NOWHERE ? first_root : &n[n[i].parent_position].first_child;
        n[i].next_sibling = *list;
        *list = i;
    }
}

/* Gives each range to the call that it names and to all callers of it; `fill`: the parts have their places. */
static csn_status go_through_parts(struct csni_go_reader *r, bool fill, struct csn_error *err) {
    struct csni_go_number *n = r->numbers.items;
    for (size_t i = 0; i < r->inlined.count; i++) {
        const struct csni_go_value *v = &r->inlined.items[i];
        if (v->value < 0) continue;
        for (uint32_t at = position_of(r, r->numbers.count, v->value); at != NOWHERE; at = n[at].parent_position) {
            CSNI_TRY(csni_go_charge(r, 1, err));
            bool touches = n[at].part_count && n[at].last_end == v->start;
            n[at].last_end = v->end;
            if (!touches) n[at].part_count++;
            if (!fill) continue;
            struct csni_go_part *part = &r->parts.items[n[at].first_part + n[at].part_count - 1];
            if (!touches) part->start = v->start;
            part->end = v->end;
        }
    }
    return CSN_OK;
}

static csn_status make_go_inline_parts(struct csni_go_reader *r, struct csn_error *err) {
    CSNI_TRY(go_through_parts(r, false, err));
    size_t total = 0;
    for (size_t i = 0; i < r->numbers.count; i++) {
        r->numbers.items[i].first_part = (uint32_t)total;
        total += r->numbers.items[i].part_count;
        r->numbers.items[i].part_count = 0;
    }
    if (total > UINT32_MAX || !csni_vec_reserve(&r->parts, total)) return csni_fail_memory(err, total * sizeof *r->parts.items);
    r->parts.count = total;
    return go_through_parts(r, true, err);
}

static csn_status add_go_inline_call(struct csni_go_reader *r, const struct csni_go_number *n, struct csn_error *err) {
    struct csni_go_call call = { .call_file = n->call_file, .call_line = n->call_line, .depth = n->depth,
                                 .first_part = n->first_part, .part_count = n->part_count };
    CSNI_TRY(csni_go_name(r, n->name, &call.name, err));
    return csni_vec_push(&r->calls, call) ? CSN_OK : csni_fail_memory(err, sizeof call);
}

static csn_status add_go_inline_calls(struct csni_go_reader *r, uint32_t first_root, struct csn_error *err) {
    const struct csni_go_number *n = r->numbers.items;
    uint32_t at = first_root;
    while (at != NOWHERE) {
        CSNI_TRY(add_go_inline_call(r, &n[at], err));
        if (n[at].first_child != NOWHERE) {
            at = n[at].first_child;
            continue;
        }
        while (at != NOWHERE && n[at].next_sibling == NOWHERE) at = n[at].parent_position;
        if (at != NOWHERE) at = n[at].next_sibling;
    }
    return CSN_OK;
}

csn_status csni_go_read_calls(struct csni_go_reader *r, const struct csni_go_record *record, uint32_t unit,
                              struct csn_error *err) {
    uint32_t list, end, first_root;
    struct csni_span tree;
    uint64_t off;
    if (record->pc_data_count <= r->table->inline_pc_data ||
        !csni_go_number_at(record->bytes, record->pc_data + 4u * r->table->inline_pc_data, 4, r->table->big_endian, &off))
        return CSN_OK;
    list = (uint32_t)off;
    if (!list || find_tree(r->table, record, &tree) != CSN_OK) return CSN_OK;
    CSNI_TRY(csni_go_read_values(r, list, record->size, &r->inlined, &end, err));
    CSNI_TRY(collect(r, tree, unit, err));
    link_numbers(r, &first_root);
    csn_status status = make_go_inline_parts(r, err);
    if (status >= 0) status = add_go_inline_calls(r, first_root, err);
    if (status < 0) r->calls.count = 0;
    return status;
}
