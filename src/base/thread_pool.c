/* Parallel loops over a fixed set of threads, which sleep in between. */
#define _GNU_SOURCE

#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/core/fail.h"

enum { MAX_THREADS = 256 };

/* musl gives a thread 128 KiB and macOS 512, and demangling alone takes up to 600: the size is set, not left to them. */
static const size_t WORKER_STACK_BYTES = (size_t)4 << 20;

struct worker {
    struct csni_pool *pool;
    pthread_t thread;
    uint32_t idx;
    uint64_t joined;    /* the last loop that it was in; guarded by the mutex */
    size_t failed_item; /* of the running loop; only with status < 0 */
    csn_status status;
    struct csn_error err;
};

enum background_state { BACKGROUND_NONE, BACKGROUND_WAITING, BACKGROUND_BEGUN, BACKGROUND_DONE };

/* What csni_pool_start() was given. */
struct background {
    enum background_state state;
    csni_pool_task *task;
    void *context;
    csn_status status;
    struct csn_error err;
};

struct csni_pool {
    const struct csn_allocator *alloc;
    uint32_t worker_count, worker_capacity;

    pthread_mutex_t mutex; /* guards the rest but for `next` and `stop` */
    pthread_cond_t begun;  /* a loop is open, a background task waits, or the pool closes */
    pthread_cond_t left;   /* the last thread has left the loop, or the background task is done */
    bool open, closing;
    uint64_t loop;         /* number of the loop: a thread joins each at most once */
    uint32_t inside;       /* threads in the loop, the caller not counted */
    struct background background;

    csni_pool_task *task;
    void *context;
    size_t count;
    bool want_errors;
    atomic_size_t next;    /* the next item to hand out */
    atomic_bool stop;

    struct worker workers[];
};

/* Takes items until there are none. The stop flag is read before an item is taken and not after: whoever fails, every
 * item before the failed one has been begun, so the lowest failure is the same whatever the timing. */
static void run_items(struct csni_pool *pool, struct worker *worker) {
    worker->status = CSN_OK;
    while (!atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
        size_t item = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (item >= pool->count) return;
        csn_status status = pool->task(pool->context, worker->idx, item, pool->want_errors ? &worker->err : NULL);
        if (status >= 0) continue;
        worker->status = status;
        worker->failed_item = item;
        atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
        return;
    }
}

/* Called with the mutex, which is open meanwhile. */
static void run_background(struct csni_pool *pool, uint32_t worker) {
    struct background *b = &pool->background;
    b->state = BACKGROUND_BEGUN;
    pthread_mutex_unlock(&pool->mutex);
    csn_status status = b->task(b->context, worker, 0, &b->err);
    pthread_mutex_lock(&pool->mutex);
    b->status = status;
    b->state = BACKGROUND_DONE;
    pthread_cond_broadcast(&pool->left);
}

static bool may_join(const struct csni_pool *pool, const struct worker *worker) {
    return pool->open && worker->joined != pool->loop;
}

static bool has_work(const struct csni_pool *pool, const struct worker *worker) {
    return pool->closing || pool->background.state == BACKGROUND_WAITING || may_join(pool, worker);
}

/* Called with the mutex, which is open meanwhile. */
static void join_loop(struct csni_pool *pool, struct worker *worker) {
    worker->joined = pool->loop;
    pool->inside++;
    pthread_mutex_unlock(&pool->mutex);
    run_items(pool, worker);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->inside == 0) pthread_cond_signal(&pool->left);
}

static void *thread_main(void *argument) {
    struct worker *worker = argument;
    struct csni_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!has_work(pool, worker)) pthread_cond_wait(&pool->begun, &pool->mutex);
        if (pool->closing) break;
        if (pool->background.state == BACKGROUND_WAITING) {
            run_background(pool, worker->idx);
            continue;
        }
        join_loop(pool, worker);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

uint32_t csni_usable_cores(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t set; /* too small on a machine with more than 1,024 cores */
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
#endif
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (uint32_t)count;
}

/* Signals of the program belong to its own threads. Those that a thread raises itself stay, and the profiler's. */
static void block_signals(sigset_t *old) {
    static const int kept[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF };
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) sigdelset(&blocked, kept[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, old);
}

/* Starts what it can: with fewer threads the work takes longer, but it gets done. */
static void start_threads(struct csni_pool *pool, size_t stack_bytes) {
    sigset_t old;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    bool sized = pthread_attr_setstacksize(&attributes, stack_bytes) == 0;
    block_signals(&old);
    while (sized && pool->worker_count < pool->worker_capacity) {
        struct worker *worker = &pool->workers[pool->worker_count];
        if (pthread_create(&worker->thread, &attributes, thread_main, worker) != 0) break;
        pool->worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
}

static size_t pool_size(uint32_t workers) { return sizeof(struct csni_pool) + workers * sizeof(struct worker); }

csn_status csni_pool_create(uint32_t threads, const struct csn_allocator *alloc, struct csni_pool **out,
                            struct csn_error *err) {
    return csni_pool_create_sized(threads, WORKER_STACK_BYTES, alloc, out, err);
}

csn_status csni_pool_create_sized(uint32_t threads, size_t stack_bytes, const struct csn_allocator *alloc,
                                  struct csni_pool **out, struct csn_error *err) {
    if (!threads) threads = csni_usable_cores();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    struct csni_pool *pool = csni_alloc_zeroed(alloc, 1, pool_size(threads));
    if (!pool) return csni_fail_memory(err, pool_size(threads));
    pool->alloc = alloc;
    pool->worker_count = 1; /* the caller */
    pool->worker_capacity = threads;
    pool->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool->begun = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool->left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    for (uint32_t i = 0; i < threads; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].idx = i;
    }
    if (threads > 1) start_threads(pool, stack_bytes);
    *out = pool;
    return CSN_OK;
}

void csni_pool_destroy(struct csni_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 1; i < pool->worker_count; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->left);
    csni_free(pool->alloc, pool, pool_size(pool->worker_capacity));
}

uint32_t csni_pool_workers(const struct csni_pool *pool) { return pool ? pool->worker_count : 1; }

static csn_status run_alone(size_t count, csni_pool_task *task, void *context, struct csn_error *err) {
    for (size_t i = 0; i < count; i++) CSNI_TRY(task(context, 0, i, err));
    return CSN_OK;
}

static void open_loop(struct csni_pool *pool, size_t count, csni_pool_task *task, void *context, bool want_errors) {
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->count = count;
    pool->want_errors = want_errors;
    for (uint32_t i = 0; i < pool->worker_count; i++) pool->workers[i].status = CSN_OK;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->stop, false, memory_order_relaxed);
    pool->loop++;
    pool->open = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->mutex);
}

/* Waits for the threads that are inside. One that has not woken up yet finds the loop closed and sleeps on. */
static void close_loop(struct csni_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->open = false;
    while (pool->inside) pthread_cond_wait(&pool->left, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

csn_status csni_pool_run(struct csni_pool *pool, size_t count, csni_pool_task *task, void *context,
                         struct csn_error *err) {
    if (csni_pool_workers(pool) == 1 || count < 2) return run_alone(count, task, context, err);
    open_loop(pool, count, task, context, err != NULL);
    run_items(pool, &pool->workers[0]);
    close_loop(pool);
    const struct worker *lowest = NULL;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        const struct worker *worker = &pool->workers[i];
        if (worker->status < 0 && (!lowest || worker->failed_item < lowest->failed_item)) lowest = worker;
    }
    if (!lowest) return CSN_OK;
    if (err) *err = lowest->err;
    return lowest->status;
}

void csni_pool_start(struct csni_pool *pool, csni_pool_task *task, void *context) {
    pthread_mutex_lock(&pool->mutex);
    pool->background = (struct background){ .state = BACKGROUND_WAITING, .task = task, .context = context };
    pthread_cond_signal(&pool->begun);
    pthread_mutex_unlock(&pool->mutex);
}

void csni_pool_help(struct csni_pool *pool, uint32_t worker) {
    if (!worker) return; /* the caller, which opens loops itself */
    pthread_mutex_lock(&pool->mutex);
    if (may_join(pool, &pool->workers[worker])) join_loop(pool, &pool->workers[worker]);
    pthread_mutex_unlock(&pool->mutex);
}

csn_status csni_pool_join(struct csni_pool *pool, struct csn_error *err) {
    struct background *b = &pool->background;
    pthread_mutex_lock(&pool->mutex);
    if (b->state == BACKGROUND_WAITING) run_background(pool, 0);
    while (b->state == BACKGROUND_BEGUN) pthread_cond_wait(&pool->left, &pool->mutex);
    b->state = BACKGROUND_NONE;
    csn_status status = b->status;
    if (status < 0 && err) *err = b->err;
    b->status = CSN_OK;
    pthread_mutex_unlock(&pool->mutex);
    return status;
}
