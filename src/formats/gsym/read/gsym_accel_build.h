/* What the files that build an accelerator share. */
#ifndef CSNI_GSYM_ACCEL_BUILD_H
#define CSNI_GSYM_ACCEL_BUILD_H

#include "base/core/vec.h"
#include "formats/gsym/read/gsym_accel.h"

/* An inlined call. Chains end at node 0, which stands for none. */
struct csni_accel_node {
    uint32_t name, call_file, call_line;
    uint32_t offset; /* of its lowest address, from the function's start */
    uint32_t parent;
};

/* A stretch of code with one answer, up to the next one: a segment of each bucket that it is in. */
struct csni_accel_stretch {
    uint32_t start;    /* from the accelerator's first address */
    uint32_t function; /* index in the address table */
    uint32_t node, file, line;
};

/* From `start` on, up to the next: addresses count from the accelerator's first. */
struct csni_accel_change {
    uint32_t start;
    uint32_t node;
};

/* A stretch of code that one node covers. */
struct csni_accel_interval {
    uint32_t start, end;
    uint32_t node;   /* what answers there: the node, or the nearest outer one that has a call file */
    uint32_t self, parent; /* numbers within the tree, from 1; 0: no parent */
};

/* Scratch of the decoding of one inline tree, and what is kept of all. */
struct csni_accel_trees {
    CSNI_VEC(struct csni_accel_node) nodes;         /* of all trees; [0] stands for none */
    CSNI_VEC(uint32_t) ends;                        /* of each tree with nodes: number of the node after its last one */
    CSNI_VEC(struct csni_accel_interval) intervals; /* of one tree, as all below */
    CSNI_VEC(struct csni_accel_interval) spare;
    CSNI_VEC(struct csni_accel_change) changes;     /* ascending, no two at the same place */
};

void csni_accel_trees_init(struct csni_accel_trees *trees, const struct csn_allocator *allocator);
void csni_accel_trees_deinit(struct csni_accel_trees *trees);

/* Decodes the tree of a function that stands at [start, end), from `first` on less than 4 GB, into trees->changes, and
 * appends its nodes, the lengths of their names not yet known. CSN_NONE, with no node kept, where the tree is damaged or
 * such that walking it would answer otherwise than nested intervals do. */
csn_status csni_accel_tree(struct csni_accel_trees *trees, const struct csni_gsym *gsym,
                           const struct csni_gsym_payload *payload, uint64_t first, uint64_t start, uint64_t end);

/* ---- gsym_accel_write.c ---- */

/* What is written. */
struct csni_accel_content {
    const struct csni_gsym *gsym;
    const struct csni_accel_stretch *segments; /* ascending */
    size_t segment_count;
    const struct csni_accel_node *nodes;       /* [0] stands for none */
    uint32_t node_count;
    const uint32_t *tree_ends;                 /* of each tree: number of the node after its last one */
    const struct csn_allocator *allocator;
    uint64_t first, covered, max_bytes;
    uint32_t plain_functions;
};

/* Writes region and trailer. Empty where they would be more than max_bytes. */
csn_status csni_accel_write(struct csn_bytes *out, const struct csni_accel_content *content, struct csn_error *err);

#endif
