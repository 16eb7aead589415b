/* From INLINE records to a tree of inlined calls.
 *
 * Records name a level, not a parent. Written in order, depth first, the parent is plain; but some writers leave records in other
 * orders and with levels missing. Then the parent of a range is the innermost range around it of a lower level. Ranges of one
 * record that have different parents become calls of their own. */
#include <stdlib.h>

#include "breakpad/breakpad.h"

enum { NONE = UINT32_MAX, DEPTH_MAX = CSN_INLINE_DEPTH_MAX - 2 };

/* ---- records in order ---- */

/* Whether one range of `parent` holds [start, end). */
static bool holds(const struct csni_breakpad_worker *w, const struct csni_breakpad_inline *parent, uint32_t start, uint32_t end) {
    const struct csni_breakpad_inline_range *r = w->ranges.items + parent->first_range;
    uint32_t low = 0, high = parent->range_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r[middle].start <= start) low = middle + 1;
        else high = middle;
    }
    return low && end <= r[low - 1].end;
}

/* Whether every record lies within the latest one of the level above it. */
static bool are_in_order(const struct csni_breakpad_worker *w) {
    uint32_t open[DEPTH_MAX], depth = 0;
    for (uint32_t i = 0; i < w->inlines.count; i++) {
        const struct csni_breakpad_inline *r = &w->inlines.items[i];
        if (r->level > depth || r->level >= DEPTH_MAX) return false;
        for (uint32_t k = 0; r->level && k < r->range_count; k++) {
            const struct csni_breakpad_inline_range *range = &w->ranges.items[r->first_range + k];
            if (!holds(w, &w->inlines.items[open[r->level - 1]], range->start, range->end)) return false;
        }
        open[r->level] = i;
        depth = r->level + 1;
    }
    return true;
}

static void add_in_order(const struct csni_breakpad_worker *w, struct csni_batch_writer *out) {
    uint32_t open[DEPTH_MAX], depth = 0;
    for (uint32_t i = 0; i < w->inlines.count; i++) {
        const struct csni_breakpad_inline *r = &w->inlines.items[i];
        while (depth > r->level) csni_batch_end_inline(out, open[--depth]);
        open[depth++] = csni_batch_begin_inline(out, r->name, r->call_file, r->call_line);
        for (uint32_t k = 0; k < r->range_count; k++) {
            const struct csni_breakpad_inline_range *range = &w->ranges.items[r->first_range + k];
            csni_batch_add_part(out, range->start, range->end);
        }
    }
    while (depth) csni_batch_end_inline(out, open[--depth]);
}

/* ---- records in any order ---- */

/* Ranges as the sweep takes them: by start, outer before inner, then by level. */
struct sweep_key {
    uint32_t start, end, level, range;
};

static int by_nesting(const void *pa, const void *pb) {
    const struct sweep_key *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    return a->range < b->range ? -1 : a->range > b->range;
}

/* The range around `key` that is its parent: of the level above it, else of the highest below it; NONE: the function. */
static uint32_t find_parent(const struct csni_breakpad_worker *w, const struct sweep_key *open, uint32_t depth,
                            const struct sweep_key *key) {
    const struct sweep_key *best = NULL;
    for (uint32_t i = key->level ? depth : 0; i-- > 0;) {
        const struct sweep_key *o = &open[i];
        if (o->start > key->start || o->end < key->end || o->level >= key->level) continue;
        if (!best || o->level > best->level) best = o;
        if (best->level + 1 == key->level) break;
    }
    return best ? w->ranges.items[best->range].node : NONE;
}

/* Puts a range into the call of its record that has this parent: the latest one, or a new one. */
static bool place(struct csni_breakpad_worker *w, uint32_t range, uint32_t parent) {
    struct csni_breakpad_inline_range *r = &w->ranges.items[range];
    struct csni_breakpad_inline *record = &w->inlines.items[r->record];
    r->next = NONE;
    if (record->last_node != NONE && w->nodes.items[record->last_node].parent == parent) {
        struct csni_breakpad_inline_node *node = &w->nodes.items[record->last_node];
        w->ranges.items[node->last_range].next = range;
        node->last_range = range;
        r->node = record->last_node;
        return true;
    }
    struct csni_breakpad_inline_node node = { r->record, parent, NONE, NONE, NONE, NONE, range, range, NONE };
    uint32_t index = (uint32_t)w->nodes.count;
    if (!csni_vec_push(&w->nodes, node)) return false;
    if (record->last_node == NONE) record->first_node = index;
    else w->nodes.items[record->last_node].next_of_record = index;
    record->last_node = index;
    r->node = index;
    return true;
}

static bool sweep(struct csni_breakpad_worker *w, const struct sweep_key *keys, size_t count, struct csni_batch_writer *out) {
    struct sweep_key open[DEPTH_MAX];
    uint32_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        while (depth && open[depth - 1].end <= keys[i].start) depth--;
        if (depth == DEPTH_MAX) {
            csni_batch_note(out, CSN_EVENT_INLINE_TOO_DEEP, "INLINE records nest deeper than %d", (int)DEPTH_MAX);
            continue;
        }
        if (!place(w, keys[i].range, find_parent(w, open, depth, &keys[i]))) return false;
        open[depth++] = keys[i];
    }
    return true;
}

/* Calls of one parent stand in the order of their records. */
static uint32_t link_children(struct csni_breakpad_worker *w) {
    uint32_t first = NONE, last = NONE;
    for (uint32_t i = 0; i < w->inlines.count; i++) {
        for (uint32_t n = w->inlines.items[i].first_node; n != NONE; n = w->nodes.items[n].next_of_record) {
            struct csni_breakpad_inline_node *parent =
                w->nodes.items[n].parent == NONE ? NULL : &w->nodes.items[w->nodes.items[n].parent];
            uint32_t *first_child = parent ? &parent->first_child : &first, *last_child = parent ? &parent->last_child : &last;
            if (*last_child == NONE) *first_child = n;
            else w->nodes.items[*last_child].next_sibling = n;
            *last_child = n;
        }
    }
    return first;
}

static void begin_node(const struct csni_breakpad_worker *w, struct csni_breakpad_inline_node *node,
                       struct csni_batch_writer *out) {
    const struct csni_breakpad_inline *r = &w->inlines.items[node->record];
    node->batch_node = csni_batch_begin_inline(out, r->name, r->call_file, r->call_line);
    for (uint32_t k = node->first_range; k != NONE; k = w->ranges.items[k].next)
        csni_batch_add_part(out, w->ranges.items[k].start, w->ranges.items[k].end);
}

/* Depth first, up again by way of the parents. */
static void add_tree(struct csni_breakpad_worker *w, uint32_t first, struct csni_batch_writer *out) {
    for (uint32_t n = first; n != NONE;) {
        struct csni_breakpad_inline_node *node = &w->nodes.items[n];
        begin_node(w, node, out);
        n = node->first_child;
        while (n == NONE && node) {
            csni_batch_end_inline(out, node->batch_node);
            n = node->next_sibling;
            node = node->parent == NONE ? NULL : &w->nodes.items[node->parent];
        }
    }
}

static bool add_in_any_order(struct csni_breakpad_worker *w, struct csni_batch_writer *out) {
    size_t count = w->ranges.count;
    struct sweep_key *keys = csni_alloc_zeroed(w->nodes.alloc, count, sizeof *keys);
    if (!keys) return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_breakpad_inline_range *r = &w->ranges.items[i];
        keys[i] = (struct sweep_key){ r->start, r->end, w->inlines.items[r->record].level, i };
    }
    qsort(keys, count, sizeof *keys, by_nesting);
    for (uint32_t i = 0; i < w->inlines.count; i++) w->inlines.items[i].first_node = w->inlines.items[i].last_node = NONE;
    w->nodes.count = 0;
    bool ok = sweep(w, keys, count, out);
    csni_free(w->nodes.alloc, keys, count * sizeof *keys);
    if (ok) add_tree(w, link_children(w), out);
    return ok;
}

bool csni_breakpad_add_inlines(struct csni_breakpad_worker *w, struct csni_batch_writer *out) {
    if (!w->inlines.count) return true;
    if (!are_in_order(w)) return add_in_any_order(w, out);
    add_in_order(w, out);
    return true;
}
