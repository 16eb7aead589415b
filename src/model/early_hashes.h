/* Hashes of strings, made before it is known which of them are used.
 *
 * Between the last unit and csni_model_link() there is work for one thread. Another one hashes strings meanwhile, which
 * is what most of
 * marking waits for: they are scattered over the string sections. */
#ifndef CSNI_EARLY_HASHES_H
#define CSNI_EARLY_HASHES_H

#include <stdatomic.h>

#include "model/model.h"

/* The strings of one batch. */
struct csni_hashed_strings {
    const struct csn_str *strings;
    uint64_t *hashes;     /* as csni_link_hash() has them; 0: not made, or an empty string. NULL: the batch's turn has not come */
    uint32_t count;
};

/* All zeros: nothing is hashed. */
struct csni_early_hashes {
    struct csni_pool *pool;
    struct csni_arena *arenas;           /* by worker */
    struct csni_hashed_strings *batches; /* in the order of the model's */
    uint32_t count;
    atomic_bool stop;
};

/* Lists the batches there are, whose strings stay as they are from now on. False: out of memory, which leaves all zeros. */
bool csni_early_hashes_init(struct csni_early_hashes *h, const struct csni_batch *batches, uint32_t count,
                            struct csni_pool *pool, struct csni_arena *arenas);
/* The pool's background task, to run beside anything that changes no string, until `stop` is set or all are hashed. `context`:
 * csni_early_hashes. It helps with the pool's loops. */
csn_status csni_early_hashes_make(void *context, uint32_t worker, size_t item, struct csn_error *err);
/* The hashes of the strings of a batch, the model's number `index`, once the task is over. NULL: there are none, or
 * it has other strings. */
uint64_t *csni_early_hashes_of(const struct csni_early_hashes *h, uint32_t index, const struct csni_batch *batch);

#endif
