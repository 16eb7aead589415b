/* An allocator for tests: counts, fails when told to, and checks what it is handed back. */
#ifndef TEST_ALLOC_H
#define TEST_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

/* Safe from several threads. Every block knows its size: a free or realloc with another size, of something that is not
 * a block, or after the block's end was overwritten, prints what is wrong and aborts. New blocks are filled with 0xcd so
 * that they do not pass for zeros; realloc always moves. */
struct test_allocator {
    struct csn_allocator base; /* hand out &t.base */
    atomic_size_t live_bytes, peak_bytes;
    atomic_size_t live_blocks;
    atomic_uint_least64_t calls;   /* of alloc and realloc so far, refused ones included */
    atomic_uint_least64_t fail_at; /* number of the call to refuse; 0: none */
    atomic_uint_least64_t refused;
    int fail_on;                   /* and all after it */
};

/* Nothing fails. */
void test_allocator_init(struct test_allocator *t);
/* The nth call from now on fails (1: the very next); 0: none. then_all: and all after it. */
void test_allocator_fail(struct test_allocator *t, uint64_t nth, int then_all);
/* Fails the test when a block is still live. */
void test_allocator_check_empty(const struct test_allocator *t);

/* The sweep: runs `step(context, t)` with its first, second, ... allocation failing, until a run in which nothing was
 * refused. A run with a refusal must answer CSN_E_MEMORY, the last one CSN_OK, each leaving no block after. With
 * `then_all`, everything after the refused call is refused too. Returns the number of runs. */
typedef csn_status test_allocator_step(void *context, const struct csn_allocator *alloc);
uint64_t test_allocator_sweep(test_allocator_step *step, void *context, int then_all);

#endif
