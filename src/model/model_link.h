/* Numbering the strings and files of a model: what model_link.c and model_names.c share. */
#ifndef CSNI_MODEL_LINK_H
#define CSNI_MODEL_LINK_H

#include "base/hash.h"
#include "model/distinct.h"

enum { CSNI_LINK_SHARD_BITS = 3, CSNI_LINK_SHARDS = 1 << CSNI_LINK_SHARD_BITS };

static inline unsigned csni_link_shard(uint64_t hash) { return (unsigned)(hash >> (64 - CSNI_LINK_SHARD_BITS)); }

/* Of a string that is not empty. Never 0. */
static inline uint64_t csni_link_hash(struct csn_str s) {
    uint64_t hash = csni_hash_bytes(s.ptr, s.len) & ~(CSNI_NAME_BIT | CSNI_USED_BIT);
    return hash ? hash : 1;
}

/* What one batch uses. */
struct csni_link_usage {
    uint64_t *hashes;     /* by string number of the batch; without CSNI_USED_BIT: not used */
    uint32_t *name_uses;  /* functions and inlined calls that it names, the same way */
    uint32_t *file_uses;  /* by file number of the batch */
    uint32_t *by_shard;   /* numbers of the strings that are used, those of a shard together and ascending; NULL: there is one share */
    uint32_t shard_ends[CSNI_LINK_SHARDS];
};

struct csni_link {
    struct csni_model *model;
    struct csni_arena *arenas;
    struct csni_link_usage *usages;
    struct csni_distinct_strings shards[CSNI_LINK_SHARDS];
    unsigned shares; /* that the shards are dealt out in: a power of two */
    struct csni_distinct_strings renamed; /* where names change: what has a number, as two may have become one */
};

/* NULL: the empty string. */
static inline struct csni_distinct_string *csni_link_distinct(struct csni_link *link, const struct csni_batch *b,
                                                              uint32_t number) {
    uint64_t hash = link->usages[b - link->model->batches].hashes[number];
    return hash & CSNI_USED_BIT ? &link->shards[csni_link_shard(hash)].items.items[b->string_numbers[number]] : NULL;
}

/* The next number, unless it has one. False when out of memory, which only happens where names change. */
bool csni_link_number_string(struct csni_link *link, struct csni_distinct_string *d, uint32_t *out);
/* Gives the first numbers to the names of most functions and inlined calls, as far as a remote lookup reads them
 * with the tables: the inlined calls of any function are among them. Of small indexes to none. */
csn_status csni_link_number_busy_names(struct csni_link *link, struct csn_error *err);
/* Numbers what functions use and has no number yet, in the order of the functions. */
csn_status csni_link_number_names(struct csni_link *link, struct csni_pool *pool, struct csn_error *err);

#endif
