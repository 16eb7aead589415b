/* What the files that build an accelerator share. */
#ifndef CSNI_GSYM_ACCEL_BUILD_H
#define CSNI_GSYM_ACCEL_BUILD_H

#include "base/core/vec.h"
#include "formats/gsym/read/gsym_accel.h"

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

#endif
