/* From INLINE records to a tree of inlined calls.
 *
 * Records name a level, not a parent. Written in order, depth first, the parent is plain; but some writers leave records in other
 * orders, with levels missing, and with ranges joined that lie in several calls of the level above (Mozilla's dump_syms 2.3 does
 * all of it). Then the parent at each address is whatever holds it with the highest lower level. What has different parents
 * becomes calls of its own. */
#include <stdlib.h>

#include "base/core/search.h"
#include "formats/breakpad/breakpad.h"

enum { NONE = UINT32_MAX, DEPTH_MAX = CSN_INLINE_DEPTH_MAX - 2 };

/* ---- records in order ---- */

/* Whether one range of `parent` holds [start, end). */
static bool holds(const struct csni_breakpad_worker *w, const struct csni_breakpad_inline *parent, uint32_t start, uint32_t end) {
    const struct csni_breakpad_inline_range *r = w->ranges.items + parent->first_range;
    size_t upper = csni_upper_bound(r, parent->range_count, start, start);
    return upper && end <= r[upper - 1].end;
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

struct sweep_key {
    uint32_t start, end, level, record;
};

static int sweep_key_by_start(const void *pa, const void *pb) {
    const struct sweep_key *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    return a->record < b->record ? -1 : a->record > b->record;
}

/* A range that holds the address where the sweep is, and the call that it belongs to there. */
struct open_range {
    struct sweep_key key;
    uint32_t node;
};

struct sweep {
    struct csni_breakpad_worker *w;
    struct open_range open[DEPTH_MAX]; /* ascending by level */
    uint32_t depth;
    size_t pieces_max;                 /* a file could ask for pieces without end */
};

/* The call of a record that has this parent: the first one, the latest one, or a new one. */
static bool find_breakpad_node(struct csni_breakpad_worker *w, uint32_t record_index, uint32_t parent, uint32_t *out) {
    struct csni_breakpad_inline *record = &w->inlines.items[record_index];
    *out = record->last_node;
    if (*out != NONE && w->nodes.items[*out].parent == parent) return true;
    *out = record->first_node;
    if (*out != NONE && w->nodes.items[*out].parent == parent) return true;
    struct csni_breakpad_inline_node node = { record_index, parent, NONE, NONE, NONE, NONE, NONE, NONE, NONE };
    *out = (uint32_t)w->nodes.count;
    if (!csni_vec_push(&w->nodes, node)) return false;
    if (record->last_node == NONE) record->first_node = *out;
    else w->nodes.items[record->last_node].next_of_record = *out;
    record->last_node = *out;
    return true;
}

/* From `at` on, the open ranges of index `first` and up belong to calls within each other. */
static bool open_from(struct sweep *s, uint32_t first, uint32_t at) {
    struct csni_breakpad_worker *w = s->w;
    for (uint32_t i = first; i < s->depth; i++) {
        uint32_t node_index, piece = (uint32_t)w->pieces.count;
        if (!find_breakpad_node(w, s->open[i].key.record, i ? s->open[i - 1].node : NONE, &node_index)) return false;
        s->open[i].node = node_index;
        struct csni_breakpad_inline_node *node = &w->nodes.items[node_index];
        if (node->last_piece != NONE && w->pieces.items[node->last_piece].end == at) continue;
        if (!csni_vec_push(&w->pieces, ((struct csni_breakpad_inline_piece){ at, at, NONE }))) return false;
        if (node->last_piece == NONE) node->first_piece = piece;
        else w->pieces.items[node->last_piece].next = piece;
        node->last_piece = piece;
    }
    return true;
}

/* All that is open reaches to `at` at least. Gives the lowest index of a range that ends there, and takes such ranges out. */
static uint32_t close_at(struct sweep *s, uint32_t at) {
    uint32_t lowest = s->depth, kept = 0;
    for (uint32_t i = 0; i < s->depth; i++) {
        s->w->pieces.items[s->w->nodes.items[s->open[i].node].last_piece].end = at;
        if (s->open[i].key.end > at) s->open[kept++] = s->open[i];
        else if (lowest == s->depth) lowest = i;
    }
    s->depth = kept;
    return lowest < kept ? lowest : kept;
}

static uint32_t insert_active(struct sweep *s, const struct sweep_key *key) {
    uint32_t i = s->depth++;
    for (; i && s->open[i - 1].key.level > key->level; i--) s->open[i] = s->open[i - 1];
    s->open[i] = (struct open_range){ *key, NONE };
    return i;
}

static uint32_t next_stop(const struct sweep *s, const struct sweep_key *next) {
    uint32_t at = next ? next->start : UINT32_MAX;
    for (uint32_t i = 0; i < s->depth; i++)
        if (s->open[i].key.end < at) at = s->open[i].key.end;
    return at;
}

static bool run_sweep(struct sweep *s, const struct sweep_key *keys, size_t count, struct csni_batch_writer *out) {
    for (size_t i = 0; i < count || s->depth;) {
        uint32_t at = next_stop(s, i < count ? &keys[i] : NULL), lowest = close_at(s, at);
        for (; i < count && keys[i].start == at; i++) {
            if (s->depth == DEPTH_MAX || s->w->pieces.count > s->pieces_max) {
                csni_batch_note(out, CSN_EVENT_INLINE_TOO_DEEP, "INLINE records nest deeper than %d, or lie across each other",
                                (int)DEPTH_MAX);
                continue;
            }
            uint32_t index = insert_active(s, &keys[i]);
            if (index < lowest) lowest = index;
        }
        if (!open_from(s, lowest, at)) return false;
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
    for (uint32_t k = node->first_piece; k != NONE; k = w->pieces.items[k].next)
        csni_batch_add_part(out, w->pieces.items[k].start, w->pieces.items[k].end);
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
    enum { PIECES_FREE = 1 << 12, PIECES_PER_RANGE = 16 };
    size_t count = w->ranges.count;
    struct sweep s = { .w = w, .pieces_max = PIECES_FREE + PIECES_PER_RANGE * count };
    struct sweep_key *keys = csni_alloc_zeroed(w->nodes.alloc, count, sizeof *keys);
    if (!keys) return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_breakpad_inline_range *r = &w->ranges.items[i];
        keys[i] = (struct sweep_key){ r->start, r->end, w->inlines.items[r->record].level, r->record };
    }
    qsort(keys, count, sizeof *keys, sweep_key_by_start);
    for (uint32_t i = 0; i < w->inlines.count; i++) w->inlines.items[i].first_node = w->inlines.items[i].last_node = NONE;
    w->nodes.count = w->pieces.count = 0;
    bool ok = run_sweep(&s, keys, count, out);
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
