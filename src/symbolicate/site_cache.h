/* Sites seen before, by index and address. */
#ifndef CSNI_SITE_CACHE_H
#define CSNI_SITE_CACHE_H

#include "base/core/budget.h"
#include "base/core/vec.h"
#include "symbolicate/site.h"

/* With the hash in the slot, most other sites need not be read. */
struct csni_site_slot {
    uint64_t hash;
    struct csni_site *site; /* NULL: free */
};

struct csni_site_cache {
    const struct csn_allocator *alloc;
    struct csni_arena arena;                 /* the sites and all that they point to */
    CSNI_VEC(struct csni_site_slot) slots;   /* by hash; a power of two, at most half full */
    size_t count;
    uint64_t generation;                     /* how often it was emptied */
    bool incomplete;                         /* the budget of a stack ended before one of its sites was complete */
};

void csni_site_cache_init(struct csni_site_cache *cache, const struct csn_allocator *alloc);
/* Empties it; it can be used again. */
void csni_site_cache_clear(struct csni_site_cache *cache);
size_t csni_site_cache_bytes(const struct csni_site_cache *cache);

uint64_t csni_site_hash(const struct csn_index *index, uint64_t addr, unsigned shift);
/* Sites are spread over memory: those of many frames are requested before the first one is read. First the slot, then the site. */
void csni_site_cache_prefetch_slot(const struct csni_site_cache *cache, uint64_t hash);
void csni_site_cache_prefetch_site(const struct csni_site_cache *cache, uint64_t hash);

/* The site from the cache, or located now. NULL: no memory. */
struct csni_site *csni_site_cache_find(struct csni_site_cache *cache, const struct csn_index *index, uint64_t addr,
                                       unsigned shift, uint64_t hash, struct csni_budget *budget);

#endif
