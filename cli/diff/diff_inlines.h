/* The inlined calls of two functions compared by meaning: the order of siblings, and how their ranges are cut, does not
 * matter. */
#ifndef CALLSIGN_CLI_DIFF_INLINES_H
#define CALLSIGN_CLI_DIFF_INLINES_H

#include "diff/diff_rows.h"

/* An inlined call; offsets are from the start of the function. */
struct diff_node {
    struct csn_str name;
    struct diff_path call_path;
    uint32_t call_line;
    uint32_t depth;        /* 1: in the function itself */
    uint32_t parent;       /* number within its tree, in the order of reading */
    uint32_t number;
    uint32_t parent_place; /* of the parent in canonical order */
    uint32_t range_count;
    size_t first_range;
    struct csn_range first; /* the first of its ranges */
};

/* A tree, and room for it that is used again. All zeros at first. */
struct diff_tree {
    struct diff_node *nodes;
    struct csn_range *ranges;
    uint32_t *places; /* in canonical order, by number */
    size_t count, capacity, range_count, range_capacity, place_capacity;
};
void diff_tree_deinit(struct diff_tree *tree);

/* One side of a comparison. */
struct diff_side {
    const struct csn_index *index;
    const struct csn_record *record;
    uint64_t *left; /* of what may be read */
    bool *suspect;  /* set where a name, or a part of a path, is empty, which may be unreadable */
};

/* The first call of either tree that the other one does not have; NULL: there it ends. They live as long as the trees. */
struct diff_nodes {
    const struct diff_node *node[2];
};

/* *same, or what differs. CSN_E_MEMORY, CSN_E_LIMIT where nothing is left, or the failure of reading a tree. Linear where both
 * are in the same order, n log n otherwise; memory only then. */
csn_status diff_inlines(const struct diff_side sides[2], struct diff_tree trees[2], bool *same, struct diff_nodes *out,
                        struct csn_error *err);

#endif
