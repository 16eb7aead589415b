/* Inlined calls by meaning.
 *
 * Indexes of one origin have their trees in the same order: both are read side by side, and nothing is kept. Only where
 * that finds a difference are the two trees gathered, put into canonical order and compared again. */
#include "diff/diff_inlines.h"

#include <stdlib.h>
#include <string.h>

#include "input/read_budget.h"
#include "ui/growing.h"
#include "ui/sorting.h"

void diff_tree_deinit(struct diff_tree *tree) {
    free(tree->nodes);
    free(tree->ranges);
    free(tree->places);
    *tree = (struct diff_tree){ 0 };
}

/* ---- side by side ---- */

/* A node's ranges, those that touch taken as one and empty ones left out. Each is asked for once: asking again for the
 * one before would cost a walk over all of them. */
struct range_reader {
    struct csn_inline_node *node;
    uint64_t start, *left;
    uint32_t k;
    struct csn_range ahead;
    bool has_ahead;
};

static void read_ahead(struct range_reader *reader) {
    struct csn_range *range = &reader->ahead;
    do {
        reader->has_ahead = read_budget_spend(reader->left, 1) &&
                            csn_inline_node_range(reader->node, reader->k, range, NULL) == CSN_OK;
        reader->k++;
    } while (reader->has_ahead && range->start == range->end);
    range->start -= reader->start;
    range->end -= reader->start;
}

static struct range_reader read_ranges(struct csn_inline_node *node, const struct diff_side *side) {
    struct range_reader reader = { .node = node, .start = side->record->start, .left = side->left };
    read_ahead(&reader);
    return reader;
}

static bool next_range(struct range_reader *reader, struct csn_range *out) {
    if (!reader->has_ahead) return false;
    *out = reader->ahead;
    for (read_ahead(reader); reader->has_ahead && reader->ahead.start == out->end; read_ahead(reader))
        out->end = reader->ahead.end;
    return true;
}

static bool ranges_equal(struct range_reader *a, struct range_reader *b) {
    for (;;) {
        struct csn_range left, right;
        bool more = next_range(a, &left);
        if (more != next_range(b, &right)) return false;
        if (!more) return true;
        if (left.start != right.start || left.end != right.end) return false;
    }
}

/* Names of inlined calls stand in the index once each, so a piece of one is what a byte of anything else is. */
enum { NAME_PIECE = 16 };

static bool has_empty_string(const struct diff_side *side, const struct csn_inline_node *node) {
    if (!node->name.len) return true;
    if (!node->call_file) return false;
    const struct diff_path path = diff_path_of(side->index, node->call_file);
    return !path.directory.len || !path.base.len;
}

/* The next inlined call: the root is the function itself. */
static csn_status next_call(struct csn_inline_iter *iter, const struct diff_side *side, struct csn_inline_node *out,
                            struct csn_error *err) {
    csn_status status;
    do {
        status = csn_inline_iter_next(iter, out, err);
        if (status == CSN_OK && !read_budget_spend(side->left, 1 + out->name.len / NAME_PIECE)) return CSN_E_LIMIT;
    } while (status == CSN_OK && out->depth == 0);
    if (status == CSN_OK && has_empty_string(side, out)) *side->suspect = true;
    return status;
}

static bool heads_equal(const struct diff_side sides[2], const struct csn_inline_node nodes[2]) {
    return nodes[0].depth == nodes[1].depth && nodes[0].call_line == nodes[1].call_line &&
           compare_strings(nodes[0].name, nodes[1].name) == 0 &&
           diff_paths_equal(diff_path_of(sides[0].index, nodes[0].call_file),
                            diff_path_of(sides[1].index, nodes[1].call_file));
}

static csn_status compare_in_order(const struct diff_side sides[2], bool *same, struct csn_error *err) {
    struct csn_inline_iter iters[2];
    struct csn_inline_node nodes[2];
    for (int k = 0; k < 2; k++) {
        csn_status status = csn_inline_iter_init(&iters[k], sides[k].index, sides[k].record, err);
        if (status < 0) return status;
    }
    for (;;) {
        csn_status first = next_call(&iters[0], &sides[0], &nodes[0], err);
        csn_status second = first < 0 ? CSN_NONE : next_call(&iters[1], &sides[1], &nodes[1], err);
        if (first < 0 || second < 0) return first < 0 ? first : second;
        *same = first == second;
        if (first != CSN_OK || second != CSN_OK) return CSN_OK;
        struct range_reader a = read_ranges(&nodes[0], &sides[0]);
        struct range_reader b = read_ranges(&nodes[1], &sides[1]);
        *same = heads_equal(sides, nodes) && ranges_equal(&a, &b);
        if (!*same) return CSN_OK;
    }
}

/* ---- gathering ---- */

static int by_start(const void *a, const void *b) {
    const struct csn_range *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return (left->end > right->end) - (left->end < right->end);
}

/* Sorts the ranges of a node that does not have them in order, and joins those that touch or overlap. */
static void settle_ranges(struct diff_tree *tree, struct diff_node *node) {
    struct csn_range *ranges = tree->ranges + node->first_range;
    uint32_t kept = 0;
    for (uint32_t k = 1; k < node->range_count; k++)
        if (ranges[k].start < ranges[k - 1].end) {
            qsort(ranges, node->range_count, sizeof(*ranges), by_start);
            break;
        }
    for (uint32_t k = 0; k < node->range_count; k++) {
        if (kept && ranges[k].start <= ranges[kept - 1].end) {
            if (ranges[k].end > ranges[kept - 1].end) ranges[kept - 1].end = ranges[k].end;
        } else {
            ranges[kept++] = ranges[k];
        }
    }
    node->range_count = kept;
    tree->range_count = node->first_range + kept;
    node->first = kept ? ranges[0] : (struct csn_range){ 0, 0 };
}

static bool gather_ranges(struct diff_tree *tree, struct diff_node *node, struct csn_inline_node *given,
                          const struct diff_side *side) {
    struct range_reader reader = read_ranges(given, side);
    struct csn_range range;
    node->first_range = tree->range_count;
    while (next_range(&reader, &range)) {
        if (!reserve_items(&tree->ranges, &tree->range_capacity, tree->range_count + 1, sizeof(*tree->ranges))) return false;
        tree->ranges[tree->range_count++] = range;
        node->range_count++;
    }
    settle_ranges(tree, node);
    return true;
}

static csn_status gather(struct diff_tree *tree, const struct diff_side *side, struct csn_error *err) {
    struct csn_inline_iter iter;
    struct csn_inline_node given;
    uint32_t last_at[CSN_INLINE_DEPTH_MAX + 1] = { 0 }; /* number of the last node of each depth */
    tree->count = tree->range_count = 0;
    csn_status status = csn_inline_iter_init(&iter, side->index, side->record, err);
    if (status < 0) return status;
    while ((status = next_call(&iter, side, &given, err)) == CSN_OK) {
        if (!reserve_items(&tree->nodes, &tree->capacity, tree->count + 1, sizeof(*tree->nodes))) return CSN_E_MEMORY;
        struct diff_node *node = &tree->nodes[tree->count];
        *node = (struct diff_node){ .name = given.name, .call_path = diff_path_of(side->index, given.call_file),
                                    .call_line = given.call_line, .depth = given.depth,
                                    .parent = last_at[given.depth - 1], .number = (uint32_t)tree->count };
        if (!gather_ranges(tree, node, &given, side)) return CSN_E_MEMORY;
        last_at[given.depth] = (uint32_t)tree->count++;
    }
    return status < 0 ? status : CSN_OK;
}

/* ---- canonical order ---- */

static int by_depth(const void *a, const void *b) {
    const struct diff_node *left = a, *right = b;
    if (left->depth != right->depth) return left->depth < right->depth ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

static int compare_nodes(const struct diff_node *left, const struct diff_node *right) {
    if (left->depth != right->depth) return left->depth < right->depth ? -1 : 1;
    if (left->parent_place != right->parent_place) return left->parent_place < right->parent_place ? -1 : 1;
    int order = by_start(&left->first, &right->first);
    if (!order) order = compare_strings(left->name, right->name);
    if (!order) order = (left->call_line > right->call_line) - (left->call_line < right->call_line);
    return order ? order : diff_paths_compare(left->call_path, right->call_path);
}

static int by_place(const void *a, const void *b) {
    const struct diff_node *left = a, *right = b;
    int order = compare_nodes(left, right);
    return order ? order : (left->number > right->number) - (left->number < right->number);
}

/* Level by level: siblings stand after those of the parent before theirs, ordered by what they are. */
static bool put_in_order(struct diff_tree *tree) {
    struct diff_node *nodes = tree->nodes;
    if (!tree->count) return true;
    if (!reserve_items(&tree->places, &tree->place_capacity, tree->count, sizeof(*tree->places))) return false;
    qsort(nodes, tree->count, sizeof(*nodes), by_depth);
    for (size_t begin = 0, end; begin < tree->count; begin = end) {
        for (end = begin; end < tree->count && nodes[end].depth == nodes[begin].depth; end++)
            nodes[end].parent_place = nodes[end].depth > 1 ? tree->places[nodes[end].parent] : 0;
        qsort(nodes + begin, end - begin, sizeof(*nodes), by_place);
        for (size_t i = begin; i < end; i++) tree->places[nodes[i].number] = (uint32_t)i;
    }
    return true;
}

static bool node_ranges_equal(const struct diff_tree trees[2], const struct diff_node *a, const struct diff_node *b) {
    return a->range_count == b->range_count &&
           (!a->range_count || memcmp(trees[0].ranges + a->first_range, trees[1].ranges + b->first_range,
                                      a->range_count * sizeof(struct csn_range)) == 0);
}

static void find_difference(const struct diff_tree trees[2], bool *same, struct diff_nodes *out) {
    size_t i = 0;
    while (i < trees[0].count && i < trees[1].count &&
           compare_nodes(&trees[0].nodes[i], &trees[1].nodes[i]) == 0 &&
           node_ranges_equal(trees, &trees[0].nodes[i], &trees[1].nodes[i]))
        i++;
    *out = (struct diff_nodes){ { i < trees[0].count ? &trees[0].nodes[i] : NULL,
                                  i < trees[1].count ? &trees[1].nodes[i] : NULL } };
    *same = !out->node[0] && !out->node[1];
}

csn_status diff_inlines(const struct diff_side sides[2], struct diff_tree trees[2], bool *same, struct diff_nodes *out,
                        struct csn_error *err) {
    csn_status status = compare_in_order(sides, same, err);
    if (status < 0 || *same) return status;
    for (int k = 0; k < 2; k++) {
        status = gather(&trees[k], &sides[k], err);
        if (status < 0) return status;
        if (!put_in_order(&trees[k])) return CSN_E_MEMORY;
    }
    find_difference(trees, same, out);
    return CSN_OK;
}
