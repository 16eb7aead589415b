/* An inline tree as a list of places at which the innermost inlined call changes. */
#include "base/core/sort.h"
#include "formats/gsym/read/gsym_accel_build.h"

#include "base/core/checked.h"

/* The file's nodes are nested as they are read; the accelerator holds them as intervals that must be nested as well. */
struct walk {
    struct csni_accel_trees *trees;
    uint64_t first, start, end;
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
    uint32_t nodes[CSN_INLINE_DEPTH_MAX]; /* by depth: the answer, as in csni_accel_interval */
    uint32_t self[CSN_INLINE_DEPTH_MAX];
    uint32_t count;                       /* nodes read */
};

void csni_accel_trees_init(struct csni_accel_trees *trees, const struct csn_allocator *allocator) {
    *trees = (struct csni_accel_trees){ .nodes.alloc = allocator, .ends.alloc = allocator };
    trees->intervals.alloc = trees->spare.alloc = trees->changes.alloc = allocator;
}

void csni_accel_trees_deinit(struct csni_accel_trees *trees) {
    csni_vec_deinit(&trees->nodes);
    csni_vec_deinit(&trees->ends);
    csni_vec_deinit(&trees->intervals);
    csni_vec_deinit(&trees->spare);
    csni_vec_deinit(&trees->changes);
}

/* The node's ranges as far as they lie within the function. CSN_NONE where one wraps around. */
static csn_status add_intervals(struct walk *w, const struct csni_gsym_node *node, uint32_t depth, uint32_t answer) {
    struct csni_span ranges = node->ranges;
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range = csni_gsym_range(&ranges, node->base);
        if (range.start < node->base || range.end < range.start) return CSN_NONE;
        if (range.start < w->start) range.start = w->start;
        if (range.end > w->end) range.end = w->end;
        if (range.start >= range.end) continue;
        struct csni_accel_interval interval = { (uint32_t)(range.start - w->first), (uint32_t)(range.end - w->first),
                                                answer, w->self[depth], depth ? w->self[depth - 1] : 0 };
        if (!csni_vec_push(&w->trees->intervals, interval)) return CSN_E_MEMORY;
    }
    return CSN_OK;
}

static csn_status add_tree_node(struct walk *w, const struct csni_gsym_node *node, uint32_t depth) {
    uint32_t parent = depth ? w->nodes[depth - 1] : CSNI_ACCEL_NO_NODE;
    uint32_t answer = parent;
    if (csni_gsym_node_is_call(node, depth == 0)) {
        /* An offset from an address before the function or 4 GB after its start: not seen, not kept. */
        if (node->first < w->start || node->first - w->start > UINT32_MAX) return CSN_NONE;
        if (w->trees->nodes.count >= CSNI_ACCEL_GAP || node->name > UINT32_MAX) return CSN_NONE;
        if (node->call_file > CSNI_ACCEL_FILE_MAX) return CSN_NONE;
        struct csni_accel_node kept = { (uint32_t)node->name, node->call_file, node->call_line,
                                        (uint32_t)(node->first - w->start), parent };
        answer = (uint32_t)w->trees->nodes.count;
        if (!csni_vec_push(&w->trees->nodes, kept)) return CSN_E_MEMORY;
    }
    w->nodes[depth] = answer;
    w->self[depth] = ++w->count;
    return add_intervals(w, node, depth, answer);
}

static bool starts_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_accel_interval *a = pa, *b = pb;
    return a->start < b->start;
}

/* By start; of those with the same start an outer one stays before the inner ones. */
static bool sort_intervals(struct csni_accel_trees *trees) {
    struct csni_accel_interval *items = trees->intervals.items;
    size_t count = trees->intervals.count;
    if (csni_is_sorted(items, count, sizeof *items, starts_before, NULL)) return true;
    if (!csni_vec_reserve(&trees->spare, count)) return false;
    csni_merge_sort(items, trees->spare.items, count, sizeof *items, starts_before, NULL);
    return true;
}

static bool add_tree_change(struct csni_accel_trees *trees, uint32_t start, uint32_t node) {
    size_t count = trees->changes.count;
    if (count && trees->changes.items[count - 1].start == start) {
        trees->changes.items[count - 1].node = node;
        return true;
    }
    struct csni_accel_change change = { start, node };
    return csni_vec_push(&trees->changes, change);
}

/* Sweeps over the sorted intervals with a stack of those that are open. */
static csn_status find_changes(struct csni_accel_trees *trees) {
    struct csni_accel_interval open[CSN_INLINE_DEPTH_MAX + 1];
    size_t depth = 0;
    for (size_t k = 0; k <= trees->intervals.count; k++) {
        bool last = k == trees->intervals.count;
        const struct csni_accel_interval *next = last ? NULL : &trees->intervals.items[k];
        while (depth && (last || open[depth - 1].end <= next->start)) {
            uint32_t end = open[--depth].end;
            if (!add_tree_change(trees, end, depth ? open[depth - 1].node : CSNI_ACCEL_NO_NODE)) return CSN_E_MEMORY;
        }
        if (last) break;
        /* Nested in its parent, and not overlapping a node beside it: else which node answers depends on the walk. */
        if (next->parent != (depth ? open[depth - 1].self : 0)) return CSN_NONE;
        if (depth && next->end > open[depth - 1].end) return CSN_NONE;
        open[depth++] = *next;
        if (!add_tree_change(trees, next->start, next->node)) return CSN_E_MEMORY;
    }
    return CSN_OK;
}

static csn_status walk_tree(struct walk *w, const struct csni_gsym *gsym, const struct csni_gsym_payload *payload) {
    struct csni_gsym_inline_iter iter;
    csni_gsym_nodes(&iter, gsym, payload);
    struct csni_gsym_node node;
    uint32_t depth;
    csn_status status;
    while ((status = csni_gsym_node_next(&iter, w->bases, &node, &depth, NULL)) == CSN_OK) {
        status = add_tree_node(w, &node, depth);
        if (status != CSN_OK) return status;
    }
    return status < 0 ? CSN_NONE : CSN_OK;
}

csn_status csni_accel_tree(struct csni_accel_trees *trees, const struct csni_gsym *gsym,
                           const struct csni_gsym_payload *payload, uint64_t first, uint64_t start, uint64_t end) {
    struct walk w;
    w.trees = trees;
    w.first = first;
    w.start = start;
    w.end = end;
    w.count = 0;
    w.bases[0] = start;
    size_t kept = trees->nodes.count;
    trees->intervals.count = trees->changes.count = 0;
    csn_status status = walk_tree(&w, gsym, payload);
    if (status == CSN_OK && !sort_intervals(trees)) status = CSN_E_MEMORY;
    if (status == CSN_OK) status = find_changes(trees);
    if (status == CSN_OK && trees->nodes.count > kept && !csni_vec_push(&trees->ends, (uint32_t)trees->nodes.count))
        status = CSN_E_MEMORY;
    if (status != CSN_OK) trees->nodes.count = kept;
    return status;
}
