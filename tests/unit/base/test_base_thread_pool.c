/* base/thread_pool.c. Tasks never assert: that is for the main thread. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/fail.h"
#include "base/thread_pool.h"
#include "support/test_alloc.h"

enum { WORKERS_MAX = 256, ITEMS_MAX = 20000 };

struct sums {
    uint64_t per_worker[WORKERS_MAX];
    uint8_t done[ITEMS_MAX];
    uint32_t workers;
    atomic_uint bad_workers;
};

static csn_status add_item(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)err;
    struct sums *sums = context;
    if (worker >= sums->workers) atomic_fetch_add(&sums->bad_workers, 1);
    else sums->per_worker[worker] += item + 1;
    sums->done[item]++;
    return CSN_OK;
}

static void check_sum(struct csni_pool *pool, size_t count) {
    static struct sums sums;
    memset(&sums, 0, sizeof sums);
    sums.workers = csni_pool_workers(pool);
    assert_int_equal(csni_pool_run(pool, count, add_item, &sums, NULL), CSN_OK);
    uint64_t total = 0;
    for (size_t i = 0; i < WORKERS_MAX; i++) total += sums.per_worker[i];
    assert_true(total == (uint64_t)count * (count + 1) / 2);
    for (size_t i = 0; i < count; i++) assert_int_equal(sums.done[i], 1);
    assert_int_equal(atomic_load(&sums.bad_workers), 0);
}

static const uint32_t thread_counts[] = { 1, 2, 7 };
enum { THREAD_COUNTS = 3 };

static void loops_of_any_length(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    for (size_t k = 0; k < THREAD_COUNTS; k++) {
        struct csni_pool *pool;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csni_pool_create(thread_counts[k], &t.base, &pool, &err), CSN_OK);
        assert_int_equal(csni_pool_workers(pool), thread_counts[k]);
        static const size_t counts[] = { 0, 1, 2, 3, 6, 7, 8, 100, ITEMS_MAX };
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) check_sum(pool, counts[i]);
        csni_pool_destroy(pool);
        test_allocator_check_empty(&t);
    }
}

static void many_short_loops(void **state) {
    (void)state;
    for (size_t k = 0; k < THREAD_COUNTS; k++) {
        struct csni_pool *pool;
        assert_int_equal(csni_pool_create(thread_counts[k], NULL, &pool, NULL), CSN_OK);
        for (size_t i = 0; i < 500; i++) check_sum(pool, i % 10);
        csni_pool_destroy(pool);
    }
}

static void no_pool_is_the_caller_alone(void **state) {
    (void)state;
    assert_int_equal(csni_pool_workers(NULL), 1);
    check_sum(NULL, 1000);
    csni_pool_destroy(NULL);
}

static void unused_pool(void **state) {
    (void)state;
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(7, NULL, &pool, NULL), CSN_OK);
    csni_pool_destroy(pool);
}

struct meeting {
    atomic_uint inside;
    atomic_bool all_met;
    unsigned expected;
};

/* Ends only when as many tasks run at the same time as there are workers. */
static csn_status meet(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker, (void)item, (void)err;
    struct meeting *m = context;
    if (atomic_fetch_add(&m->inside, 1) + 1 == m->expected) atomic_store(&m->all_met, true);
    while (!atomic_load(&m->all_met)) sched_yield();
    return CSN_OK;
}

static void all_workers_at_once(void **state) {
    (void)state;
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(7, NULL, &pool, NULL), CSN_OK);
    for (int i = 0; i < 20; i++) {
        struct meeting m = { 0, false, 7 };
        assert_int_equal(csni_pool_run(pool, 7, meet, &m, NULL), CSN_OK);
        assert_int_equal(atomic_load(&m.inside), 7);
    }
    csni_pool_destroy(pool);
}

struct failures {
    size_t first, step;     /* items first, first + step, ... fail */
    atomic_size_t begun;
    atomic_bool late;       /* the first to fail waits for a later one */
    atomic_uint with_error; /* tasks that were given an error to fill */
};

static csn_status fail_some(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct failures *f = context;
    atomic_fetch_add(&f->begun, 1);
    if (err) atomic_fetch_add(&f->with_error, 1);
    if (item < f->first || (item - f->first) % f->step) return item % 2 ? CSN_NONE : CSN_OK;
    if (item == f->first) {
        for (int i = 0; i < 1000000 && !atomic_load(&f->late); i++) sched_yield();
    } else {
        atomic_store(&f->late, true);
    }
    return csni_fail(err, item % 2 ? CSN_E_FORMAT : CSN_E_LIMIT, "items", item, "item %zu is bad", item);
}

static void lowest_failure_wins(void **state) {
    (void)state;
    for (size_t k = 0; k < THREAD_COUNTS; k++) {
        struct csni_pool *pool;
        assert_int_equal(csni_pool_create(thread_counts[k], NULL, &pool, NULL), CSN_OK);
        for (size_t first = 0; first < 50; first++) {
            struct failures f = { .first = first, .step = 1 + first % 3 };
            if (thread_counts[k] == 1) f.late = true;
            struct csn_error err = CSN_ERROR_INIT;
            csn_status status = csni_pool_run(pool, 100000, fail_some, &f, &err);
            assert_int_equal(status, first % 2 ? CSN_E_FORMAT : CSN_E_LIMIT);
            assert_int_equal(err.code, status);
            assert_int_equal(err.offset, first);
            char text[64];
            snprintf(text, sizeof text, "items+0x%zx: item %zu is bad", first, first);
            assert_string_equal(err.text, text);
            assert_true(atomic_load(&f.begun) < 100000); /* it stopped */
        }
        check_sum(pool, 1000); /* nothing of it is left */
        csni_pool_destroy(pool);
    }
}

static void errors_are_made_only_when_asked_for(void **state) {
    (void)state;
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(2, NULL, &pool, NULL), CSN_OK);
    struct failures f = { .first = 10, .step = 1000000, .late = true };
    assert_int_equal(csni_pool_run(pool, 100, fail_some, &f, NULL), CSN_E_LIMIT);
    assert_int_equal(atomic_load(&f.with_error), 0);
    csni_pool_destroy(pool);
}

static void a_success_leaves_the_error_alone(void **state) {
    (void)state;
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(2, NULL, &pool, NULL), CSN_OK);
    struct failures f = { .first = 1000, .step = 1 };
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_pool_run(pool, 100, fail_some, &f, &err), CSN_OK);
    assert_int_equal(err.code, CSN_OK);
    csni_pool_destroy(pool);
}

static void as_many_threads_as_cores(void **state) {
    (void)state;
    struct csni_pool *pool;
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(csni_pool_create(0, NULL, &pool, NULL), CSN_OK);
    int cores = CPU_COUNT(&set);
    assert_int_equal(csni_pool_workers(pool), cores > 256 ? 256 : cores);
    check_sum(pool, 1000);
    csni_pool_destroy(pool);
}

/* A stack larger than the address space: no thread can be made. */
static void without_threads_the_caller_works(void **state) {
    (void)state;
    size_t huge = ~(size_t)0 / 16 * (sizeof(size_t) == 8 ? 4 : 15); /* musl refuses to be told of more */
    struct csni_pool *pool = NULL;
    struct test_allocator t;
    test_allocator_init(&t);
    assert_int_equal(csni_pool_create_sized(7, huge, &t.base, &pool, NULL), CSN_OK);
    assert_int_equal(csni_pool_workers(pool), 1);
    check_sum(pool, 1000);
    csni_pool_destroy(pool);
    test_allocator_check_empty(&t);
}

static csn_status use_stack(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)context, (void)worker, (void)err;
    volatile uint8_t bytes[1 << 20];
    for (size_t i = 0; i < sizeof bytes; i += 1024) bytes[i] = (uint8_t)item;
    return bytes[1024 * (item % 1024)] == (uint8_t)item ? CSN_OK : CSN_E_FORMAT;
}

/* A C library may give a thread 128 KiB (musl), where demangling alone needs 600: the size is the pool's own. */
static void stacks_have_room_for_demangling(void **state) {
    (void)state;
    pthread_attr_t old, small;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_getattr_default_np(&old), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)1 << 18), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    struct csni_pool *pool = NULL;
    assert_int_equal(csni_pool_create(4, NULL, &pool, NULL), CSN_OK);
    assert_int_equal(csni_pool_workers(pool), 4);
    for (int round = 0; round < 50; round++) assert_int_equal(csni_pool_run(pool, 64, use_stack, NULL, NULL), CSN_OK);
    csni_pool_destroy(pool);
    assert_int_equal(pthread_setattr_default_np(&old), 0);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&old);
}

static csn_status create(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct csni_pool *pool = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_pool_create(3, alloc, &pool, &err);
    csni_pool_destroy(pool);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    assert_int_equal(test_allocator_sweep(create, NULL, 0), 2);
}

/* ---- aside ---- */

struct errand {
    atomic_uint times;
    csn_status status;
    uint32_t workers;
    atomic_bool bad_worker;
};

static csn_status run_errand(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct errand *e = context;
    if (worker >= e->workers || item) atomic_store(&e->bad_worker, true);
    sched_yield();
    atomic_fetch_add(&e->times, 1);
    return e->status < 0 ? csni_fail(err, e->status, NULL, 0, "the errand failed") : e->status;
}

/* Once each, whether threads are there or not, loops are run meanwhile or not, and whatever became of the one before. */
static void something_aside(void **state) {
    (void)state;
    for (size_t k = 0; k < THREAD_COUNTS; k++) {
        struct csni_pool *pool;
        assert_int_equal(csni_pool_create(thread_counts[k], NULL, &pool, NULL), CSN_OK);
        assert_int_equal(csni_pool_join(pool, NULL), CSN_OK);
        struct errand e = { .workers = csni_pool_workers(pool) };
        for (unsigned i = 0; i < 300; i++) {
            struct csn_error err = CSN_ERROR_INIT;
            e.status = i % 3 == 1 ? CSN_E_LIMIT : CSN_OK;
            csni_pool_start(pool, run_errand, &e);
            for (unsigned loop = 0; loop < i % 4; loop++) check_sum(pool, 50 * loop);
            assert_int_equal(csni_pool_join(pool, &err), e.status);
            assert_string_equal(err.text, e.status < 0 ? "the errand failed" : "");
            assert_int_equal(atomic_load(&e.times), i + 1);
            assert_int_equal(csni_pool_join(pool, &err), CSN_OK);
        }
        assert_false(atomic_load(&e.bad_worker));
        csni_pool_destroy(pool);
    }
}

struct gate { pthread_mutex_t lock; };

static csn_status wait_at_gate(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker, (void)item, (void)err;
    struct gate *gate = context;
    pthread_mutex_lock(&gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return CSN_OK;
}

/* A loop does not wait for what is done aside, even if that takes all threads but the caller's. */
static void loops_beside_something(void **state) {
    (void)state;
    struct gate gate = { PTHREAD_MUTEX_INITIALIZER };
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(2, NULL, &pool, NULL), CSN_OK);
    pthread_mutex_lock(&gate.lock);
    csni_pool_start(pool, wait_at_gate, &gate);
    for (unsigned i = 0; i < 100; i++) check_sum(pool, 100);
    pthread_mutex_unlock(&gate.lock);
    assert_int_equal(csni_pool_join(pool, NULL), CSN_OK);
    check_sum(pool, 100);
    csni_pool_destroy(pool);
    pthread_mutex_destroy(&gate.lock);
}

struct help {
    struct csni_pool *pool;
    struct meeting meeting;
};

static csn_status help_until_met(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)item, (void)err;
    struct help *h = context;
    while (!atomic_load(&h->meeting.all_met)) csni_pool_help(h->pool, worker);
    return CSN_OK;
}

/* What is done aside helps with loops where it asks for them, each thread once: the loop ends only if it does. */
static void something_aside_helps(void **state) {
    (void)state;
    for (uint32_t threads = 2; threads <= 4; threads++) {
        struct help h = { .meeting.expected = threads };
        assert_int_equal(csni_pool_create(threads, NULL, &h.pool, NULL), CSN_OK);
        if (csni_pool_workers(h.pool) == threads) {
            csni_pool_start(h.pool, help_until_met, &h);
            assert_int_equal(csni_pool_run(h.pool, threads, meet, &h.meeting, NULL), CSN_OK);
            assert_int_equal(csni_pool_join(h.pool, NULL), CSN_OK);
            assert_int_equal(atomic_load(&h.meeting.inside), threads);
        }
        csni_pool_destroy(h.pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_any_length),
        cmocka_unit_test(many_short_loops),
        cmocka_unit_test(no_pool_is_the_caller_alone),
        cmocka_unit_test(unused_pool),
        cmocka_unit_test(all_workers_at_once),
        cmocka_unit_test(lowest_failure_wins),
        cmocka_unit_test(errors_are_made_only_when_asked_for),
        cmocka_unit_test(a_success_leaves_the_error_alone),
        cmocka_unit_test(as_many_threads_as_cores),
        cmocka_unit_test(without_threads_the_caller_works),
        cmocka_unit_test(stacks_have_room_for_demangling),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(something_aside),
        cmocka_unit_test(loops_beside_something),
        cmocka_unit_test(something_aside_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
