/* What a symbolicator keeps from stack to stack. */
#ifndef CSNI_SYMBOLICATOR_H
#define CSNI_SYMBOLICATOR_H

#include "symbolicate/module_map.h"
#include "symbolicate/pattern.h"
#include "symbolicate/site_cache.h"
#include "symbolicate/tail_table.h"

struct csn_symbolicator {
    const struct csn_allocator *alloc;
    uint64_t max_frames, cache_bytes;
    struct csn_module *modules;
    uint32_t module_count, module_capacity;
    struct csni_module_map map;
    struct csni_patterns patterns;
    struct csni_site_cache sites;        /* emptied beyond cache_bytes, */
    struct csni_tail_tables tail_tables; /* and so are these */
    struct csni_arena arena;             /* the last answer */
    const void *owner;                   /* of the indexes that this is from; NULL: the caller knows */
    uint64_t owner_generation;
};

/* The indexes of the stacks that follow are those that `owner` has open, which has closed some whenever `generation` changes: what
 * is known of those of another owner or generation is forgotten. */
void csni_symbolicator_follow(struct csn_symbolicator *s, const void *owner, uint64_t generation);

#endif
