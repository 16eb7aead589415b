/* The allocator of test_alloc.h. */
#include "support/test_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t LIVE = 0x6576696c2d6e7363u, TAIL = 0xfedcba9876543210u;

/* Sits before a block; 16 bytes, so that the block is aligned like malloc's. */
struct header {
    _Alignas(16) uint64_t magic;
    uint64_t size;
};

static _Noreturn void die(const char *what, uint64_t is, uint64_t should) {
    fprintf(stderr, "test allocator: %s: %#llx, expected %#llx\n", what, (unsigned long long)is,
            (unsigned long long)should);
    abort();
}

static void count_up(struct test_allocator *t, size_t size) {
    size_t live = atomic_fetch_add(&t->live_bytes, size) + size, peak = atomic_load(&t->peak_bytes);
    while (peak < live && !atomic_compare_exchange_weak(&t->peak_bytes, &peak, live)) {}
    atomic_fetch_add(&t->live_blocks, 1);
}

static bool refuse(struct test_allocator *t) {
    uint64_t call = atomic_fetch_add(&t->calls, 1) + 1, at = atomic_load(&t->fail_at);
    if (!at || call < at || (call > at && !t->fail_on)) return false;
    atomic_fetch_add(&t->refused, 1);
    return true;
}

static void *new_block(struct test_allocator *t, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    struct header *h = malloc(sizeof *h + size + sizeof TAIL);
    if (!h) return NULL;
    *h = (struct header){ LIVE, size };
    memset(h + 1, 0xcd, size);
    memcpy((uint8_t *)(h + 1) + size, &TAIL, sizeof TAIL);
    count_up(t, size);
    return h + 1;
}

static void drop_block(struct test_allocator *t, void *ptr, size_t size) {
    struct header *h = (struct header *)ptr - 1;
    uint64_t tail;
    if (h->magic != LIVE) die("this block is not live", h->magic, LIVE);
    if (h->size != size) die("size of a block given back", size, h->size);
    memcpy(&tail, (uint8_t *)ptr + size, sizeof tail);
    if (tail != TAIL) die("bytes after the end of a block", tail, TAIL);
    free(h);
    atomic_fetch_sub(&t->live_bytes, size);
    atomic_fetch_sub(&t->live_blocks, 1);
}

static void *checked_alloc(void *context, size_t size) {
    struct test_allocator *t = context;
    if (!size) die("size of an alloc", 0, 1);
    return refuse(t) ? NULL : new_block(t, size);
}

/* Always moves the block: whoever keeps an old pointer is found out. */
static void *checked_realloc(void *context, void *ptr, size_t old_size, size_t new_size) {
    struct test_allocator *t = context;
    if (!ptr) die("pointer of a realloc", 0, 1);
    if (!new_size) die("new size of a realloc", 0, 1);
    if (refuse(t)) return NULL;
    void *moved = new_block(t, new_size);
    if (!moved) return NULL;
    memcpy(moved, ptr, old_size < new_size ? old_size : new_size);
    drop_block(t, ptr, old_size);
    return moved;
}

static void checked_free(void *context, void *ptr, size_t size) {
    if (!ptr) die("pointer of a free", 0, 1);
    drop_block(context, ptr, size);
}

void test_allocator_init(struct test_allocator *t) {
    memset(t, 0, sizeof *t);
    t->base = (struct csn_allocator){ checked_alloc, checked_realloc, checked_free, t };
}

void test_allocator_fail(struct test_allocator *t, uint64_t nth, int then_all) {
    t->fail_on = then_all;
    atomic_store(&t->fail_at, nth ? atomic_load(&t->calls) + nth : 0);
}

void test_allocator_check_empty(const struct test_allocator *t) {
    assert_int_equal(atomic_load(&t->live_blocks), 0);
    assert_int_equal(atomic_load(&t->live_bytes), 0);
}

/* ThreadSanitizer makes a run many times slower, and races do not hide after a certain allocation: after the first ones it gets
 * one run in thirteen. */
#if defined(__SANITIZE_THREAD__)
enum { SWEEP_EACH = 64, SWEEP_STEP = 13 };
#else
enum { SWEEP_EACH = 1, SWEEP_STEP = 1 };
#endif

uint64_t test_allocator_sweep(test_allocator_step *step, void *context, int then_all) {
    for (uint64_t run = 1;; run += run < SWEEP_EACH ? 1 : SWEEP_STEP) {
        struct test_allocator t;
        test_allocator_init(&t);
        test_allocator_fail(&t, run, then_all);
        csn_status status = step(context, &t.base);
        bool refused = atomic_load(&t.refused) != 0;
        if (status != (refused ? CSN_E_MEMORY : CSN_OK))
            fail_msg("allocation %llu refused: status %d", (unsigned long long)run, status);
        test_allocator_check_empty(&t);
        if (!refused) return run;
    }
}
