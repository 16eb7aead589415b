/* Making checkpoints from records: for a file that is being written, function by function, and for checking those of a file. */
#ifndef CSNI_GSYM_CHECKPOINT_BUILD_H
#define CSNI_GSYM_CHECKPOINT_BUILD_H

#include "base/core/vec.h"
#include "formats/gsym/gsym_checkpoint_layout.h"
#include "formats/gsym/read/gsym.h"

/* RECORD is its offset from the share's records_at in units of 4, or this. */
#define CSNI_CP_NO_RECORD UINT32_MAX
struct csni_checkpoint {
    uint32_t fields[CSNI_CP_FIELDS];
};
struct csni_checkpoint_call {
    uint32_t at, parent; /* parent: the number of the call around it within the share, from 1 on; 0: none */
};

/* A node of a tree; `parent` is a number of one. */
struct csni_checkpoint_node {
    uint32_t at, end; /* bytes of it and of the nodes in it, from the tree's start */
    uint32_t parent, depth;
    uint32_t call;    /* its number among the calls of the share; 0: not among them yet */
};

/* The checkpoints of some functions that follow each other. */
struct csni_checkpoint_share {
    uint64_t first;       /* address of the first entry of all */
    unsigned shift, revision; /* revision 1 is for checking files that have it */
    uint64_t records_at;  /* what record offsets count from, once it is known */
    CSNI_VEC(struct csni_checkpoint) entries;
    CSNI_VEC(struct csni_checkpoint_call) calls;
    CSNI_VEC(struct csni_checkpoint_node) nodes; /* scratch: of one tree */
    /* The largest of each field, or as many bits, numbers and record offsets as they are within the share; set by
     * csni_checkpoint_share_measure(). */
    uint32_t most[CSNI_CP_FIELDS], call_most[CSNI_CP_CALL_FIELDS];
    bool failed;          /* memory ran out */
};
void csni_checkpoint_share_init(struct csni_checkpoint_share *share, const struct csn_allocator *alloc, uint64_t first,
                                unsigned shift, unsigned revision);
void csni_checkpoint_share_free(struct csni_checkpoint_share *share);

/* A function whose entries are to be made. */
struct csni_checkpoint_function {
    uint32_t idx;
    uint64_t start;
    uint64_t next;         /* where the next function starts, or the last one ends: its entries are those before */
    uint64_t record_at;    /* offset of its record from share->records_at */
    bool shares_start;     /* with another function: a lookup then chooses among them */
};
/* Functions in order. `record`: NULL where it cannot be read. `gsym`: widths and byte order. Work is bounded by the bytes of the
 * record and the number of entries. Whether memory was there: share->failed. */
void csni_checkpoint_add(struct csni_checkpoint_share *share, const struct csni_gsym *gsym,
                         const struct csni_checkpoint_function *f, const struct csni_gsym_record *record);

/* Once it has all its functions. */
void csni_checkpoint_share_measure(struct csni_checkpoint_share *share);

/* All shares, packed. */
struct csni_checkpoint_plan {
    uint64_t first;
    uint32_t count, call_count;
    unsigned shift;
    uint8_t bits[CSNI_CP_FIELDS], call_bits[CSNI_CP_CALL_FIELDS];
    unsigned revision, function_bytes, record_bytes, entry_bytes, call_bytes; /* the first two: 0 in revision 1 */
    uint64_t size; /* of the table */
};
/* Of shares that are measured. */
void csni_checkpoint_plan(struct csni_checkpoint_plan *out, const struct csni_checkpoint_share *const *shares, size_t count);
/* One share, which comes after `entries` entries and `calls` calls of others, into `table`: plan->size zero bytes.
 * Different shares from different threads at once. */
void csni_checkpoint_put(const struct csni_checkpoint_plan *plan, const struct csni_checkpoint_share *share, uint32_t entries,
                         uint32_t calls, uint8_t *table);
void csni_checkpoint_put_head(const struct csni_checkpoint_plan *plan, uint64_t table_at, uint8_t head[CSNI_CP_HEAD]);

#endif
