/* In the order of the batches. */
#include "model/early_hashes.h"

#include <string.h>

#include "model/model_link.h"

bool csni_early_hashes_init(struct csni_early_hashes *h, const struct csni_batch *batches, uint32_t count,
                            struct csni_pool *pool, struct csni_arena *arenas) {
    struct csni_hashed_strings *all = csni_arena_alloc(&arenas[0], count * sizeof *all);
    if (!all) return false;
    for (uint32_t i = 0; i < count; i++) all[i] = (struct csni_hashed_strings){ batches[i].strings, NULL, batches[i].string_count };
    h->pool = pool;
    h->arenas = arenas;
    h->batches = all;
    h->count = count;
    return true;
}

enum { HASHES_AT_ONCE = 1024 };

/* False: it is to stop. The hashes made so far are of use. */
static bool hash_batch(struct csni_early_hashes *h, uint32_t worker, struct csni_hashed_strings *s) {
    for (uint32_t k = 0; k < s->count; k++) {
        if (k % HASHES_AT_ONCE == 0) csni_pool_help(h->pool, worker);
        if (k % HASHES_AT_ONCE == 0 && atomic_load_explicit(&h->stop, memory_order_relaxed)) return false;
        s->hashes[k] = s->strings[k].len ? csni_link_hash(s->strings[k]) : 0;
    }
    return true;
}

/* What is not made is made when it is needed: running out of memory is no failure. */
csn_status csni_early_hashes_make(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)item;
    (void)err;
    struct csni_early_hashes *h = context;
    for (uint32_t i = 0; i < h->count; i++) {
        struct csni_hashed_strings *s = &h->batches[i];
        size_t size = s->count * sizeof *s->hashes;
        s->hashes = csni_arena_alloc(&h->arenas[worker], size);
        if (!s->hashes) return CSN_OK;
        memset(s->hashes, 0, size);
        if (!hash_batch(h, worker, s)) return CSN_OK;
    }
    return CSN_OK;
}

uint64_t *csni_early_hashes_of(const struct csni_early_hashes *h, uint32_t index, const struct csni_batch *batch) {
    const struct csni_hashed_strings *s = index < h->count ? &h->batches[index] : NULL;
    return s && s->strings == batch->strings && s->count == batch->string_count ? s->hashes : NULL;
}
