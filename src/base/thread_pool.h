/* A small pool for parallel loops. The calling thread works too, as worker 0. */
#ifndef CSNI_THREAD_POOL_H
#define CSNI_THREAD_POOL_H

#include "base/core/alloc.h"

struct csni_pool;

/* Cores that this process may use, at least 1. */
uint32_t csni_usable_cores(void);

/* One item of a loop. `worker` is below csni_pool_workers(): index per-worker state by it. A status below 0 stops the
 * loop: items not begun are left out. */
typedef csn_status csni_pool_task(void *context, uint32_t worker, size_t item, struct csn_error *err);

/* threads 0: one per core that this process may use. threads 1: no thread is made. */
csn_status csni_pool_create(uint32_t threads, const struct csn_allocator *alloc, struct csni_pool **out,
                            struct csn_error *err);
/* The same with stacks of another size than the pool's own choice. */
csn_status csni_pool_create_sized(uint32_t threads, size_t stack_bytes, const struct csn_allocator *alloc,
                                  struct csni_pool **out, struct csn_error *err);
void csni_pool_destroy(struct csni_pool *pool); /* NULL is fine */
uint32_t csni_pool_workers(const struct csni_pool *pool);

/* Runs task(context, worker, i) for each i < count, handed out in ascending order, and waits for all of them. Of several
 * failures, the one of the lowest item is returned. pool NULL: runs on the caller alone. */
csn_status csni_pool_run(struct csni_pool *pool, size_t count, csni_pool_task *task, void *context,
                         struct csn_error *err);

/* Has task(context, worker, 0) done by the first thread with nothing else to do, beside loops and all else that the caller
 * goes on with; a thread that is at it joins loops when it is done. One at a time; join comes before the next one and before
 * the pool is destroyed. */
void csni_pool_start(struct csni_pool *pool, csni_pool_task *task, void *context);
/* Called by that task now and then, where it takes long: helps with the loop that is open, if there is one. `worker`: its own. */
void csni_pool_help(struct csni_pool *pool, uint32_t worker);
/* Waits for it, or does it where no thread has begun. Nothing to wait for is fine: CSN_OK. */
csn_status csni_pool_join(struct csni_pool *pool, struct csn_error *err);

#endif
