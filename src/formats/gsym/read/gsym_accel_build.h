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
    struct csni_accel_form form;
};

/* Writes region and trailer. Empty where they would be more than max_bytes. */
csn_status csni_accel_write(struct csn_bytes *out, const struct csni_accel_content *content, struct csn_error *err);

/* ---- gsym_accel_near.c: what remote readers find near a block ---- */

enum { CSNI_ACCEL_NEAR_NAMES = 256, CSNI_ACCEL_RECENT_NAMES = 512, CSNI_ACCEL_NEAR_NODES = 1024,
       CSNI_ACCEL_STACK_NAMES = CSN_INLINE_DEPTH_MAX + 1 };

/* A string of the table. */
struct csni_accel_name {
    uint32_t offset, length;
};

/* What is put before one block. */
struct csni_accel_near {
    struct csni_accel_name names[CSNI_ACCEL_NEAR_NAMES]; /* copied */
    uint32_t name_count;
    uint32_t bytes;                                      /* of their copies with all that is around them; 0: none */
    bool needs_recent;                                   /* stacks have names that were copied for blocks before */
    struct csni_accel_recent { uint32_t offset; uint64_t at; } recent[CSNI_ACCEL_RECENT_NAMES]; /* their copies and those of blocks before, ascending by place */
    uint32_t recent_count;
    uint64_t last_end;                                   /* of the last copies; 0: there are none */
    uint32_t nodes[CSNI_ACCEL_NEAR_NODES];               /* the inlined calls of all stacks, ascending */
    uint32_t node_count;
    struct csni_accel_name stack[CSNI_ACCEL_STACK_NAMES]; /* of one stack, those outside of the first read */
    uint32_t stack_count;
    uint64_t cold;                                       /* offset of the first string outside of the first read */
};

void csni_accel_near_init(struct csni_accel_near *near, const struct csni_accel_content *content);
/* Of a block's stretches: the nodes, none where they are too many, and the names without which a stack lies in more
 * places than two. `at`: where the block is going to be, at least. */
void csni_accel_near_choose(struct csni_accel_near *near, const struct csni_accel_content *content,
                            const struct csni_accel_stretch *s, size_t count, uint64_t at);
/* Its names end at `end`. Writes near->bytes bytes to p, unless that is NULL. */
void csni_accel_near_put_names(struct csni_accel_near *near, const struct csni_gsym *gsym, uint64_t end, uint8_t *p);

#endif
