/* What the parts of the builder share. */
#ifndef CSNI_BUILDER_PRIVATE_H
#define CSNI_BUILDER_PRIVATE_H

#include <callsign/builder.h>

#include "model/model.h"

/* Beside each function of the writer. */
struct csni_built_function {
    uint32_t next; /* 1 + the number of the function before it with the same hash; 0: none */
    bool removed;
};

struct csn_builder {
    const struct csn_allocator *alloc;
    struct csn_builder_options options;
    const uint8_t *uuid;               /* a copy */
    struct csni_arena arena;           /* copies of strings, and the finished batch */
    struct csni_batch_writer writer;
    CSNI_VEC(uint32_t) open_inlines;   /* node indexes, outermost first */
    CSNI_VEC(struct csni_built_function) built;
    uint32_t *slots;                   /* 1 + the last function of each hash of its start; a power of two of them */
    size_t slot_count, removed_count;
    struct csni_batch batch;
    struct csni_model model;
    bool in_function, finished;
    uint64_t last_row;                 /* address of the last row of the function, or its start */
};

/* Makes the writer's last function one that can be removed. False: out of memory. */
bool csni_builder_note_function(struct csn_builder *b);

/* Gives back the memory of removed functions when there are more of them than of others: nothing may be open. Should
 * memory run out, everything stays as it is. */
void csni_builder_compact(struct csn_builder *b);

/* Takes removed functions out of a batch that csni_batch_finish() made. */
void csni_builder_drop_removed(const struct csn_builder *b, struct csni_batch *batch);

#endif
