/* base/arena.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "support/test_alloc.h"

static void objects_are_aligned_and_apart(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 0);
    assert_int_equal(atomic_load(&t.calls), 0); /* nothing before it is needed */
    enum { COUNT = 5000 };
    static uint8_t *objects[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = i % 97 == 0 ? 20000 + i : i % 61;
        objects[i] = csni_arena_alloc(&arena, size);
        assert_non_null(objects[i]);
        assert_int_equal((uintptr_t)objects[i] % 8, 0);
        memset(objects[i], (int)(i & 0xff), size);
    }
    for (size_t i = 0; i < COUNT; i++) {
        size_t size = i % 97 == 0 ? 20000 + i : i % 61;
        for (size_t k = 0; k < size; k++)
            if (objects[i][k] != (i & 0xff)) fail_msg("object %zu, byte %zu", i, k);
    }
    assert_true(arena.total == atomic_load(&t.live_bytes));
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
    assert_true(arena.total == 0);
    assert_non_null(csni_arena_alloc(&arena, 1)); /* and again */
    csni_arena_deinit(&arena);
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

static void chunks_grow_to_a_limit(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 4096);
    for (size_t i = 0; i < (64u << 20) / 64; i++) assert_non_null(csni_arena_alloc(&arena, 64));
    /* 4 KiB doubling to 4 MiB takes 11 chunks for the first 8 MiB, then one for 4 MiB each. */
    assert_in_range(atomic_load(&t.calls), 22, 28);
    assert_true(arena.total < (72u << 20));
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

static void a_big_object_wastes_nothing(void **state) {
    (void)state;
    struct csni_arena arena;
    csni_arena_init(&arena, NULL, 4096);
    uint8_t *a = csni_arena_alloc(&arena, 8);
    uint8_t *big = csni_arena_alloc(&arena, 1000000);
    uint8_t *b = csni_arena_alloc(&arena, 8);
    assert_non_null(big);
    assert_ptr_equal(b, a + 8);
    memset(big, 1, 1000000);
    assert_true(arena.total < 1000000 + 4096 + 256);
    csni_arena_deinit(&arena);
}

static void copies(void **state) {
    (void)state;
    struct csni_arena arena;
    csni_arena_init(&arena, NULL, 1);
    assert_string_equal(csni_arena_copy(&arena, "hello", 5), "hello");
    assert_string_equal(csni_arena_copy(&arena, "hello", 2), "he");
    assert_string_equal(csni_arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(csni_arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    assert_null(csni_arena_copy(&arena, "", SIZE_MAX));
    assert_null(csni_arena_copy(&arena, "", SIZE_MAX - 1));
    csni_arena_deinit(&arena);
}

static void marks_within_a_chunk(void **state) {
    (void)state;
    struct csni_arena arena;
    csni_arena_init(&arena, NULL, 4096);
    char *kept = csni_arena_copy(&arena, "kept", 4);
    struct csni_arena_mark mark = csni_arena_get_mark(&arena);
    char *first = csni_arena_copy(&arena, "gone", 4);
    csni_arena_release(&arena, mark);
    assert_ptr_equal(csni_arena_copy(&arena, "here", 4), first);
    assert_string_equal(kept, "kept");
    csni_arena_deinit(&arena);
}

static void marks_across_chunks(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 512);
    struct csni_arena_mark empty = csni_arena_get_mark(&arena);
    char *kept = csni_arena_copy(&arena, "kept", 4);
    char *big = csni_arena_alloc(&arena, 5000); /* the newest chunk, while small ones come from an older */
    memset(big, 'b', 5000);
    struct csni_arena_mark outer = csni_arena_get_mark(&arena);
    uint8_t *next = csni_arena_alloc(&arena, 8);
    for (int i = 0; i < 100; i++) assert_non_null(csni_arena_alloc(&arena, 100));
    struct csni_arena_mark inner = csni_arena_get_mark(&arena);
    assert_non_null(csni_arena_alloc(&arena, 50000));
    for (int i = 0; i < 1000; i++) assert_non_null(csni_arena_alloc(&arena, 100));
    csni_arena_release(&arena, inner);
    csni_arena_release(&arena, outer);
    assert_ptr_equal(csni_arena_alloc(&arena, 8), next);
    assert_string_equal(kept, "kept");
    for (int i = 0; i < 5000; i++) assert_int_equal(big[i], 'b');
    csni_arena_release(&arena, empty);
    assert_true(arena.total == atomic_load(&t.live_bytes));
    assert_non_null(csni_arena_alloc(&arena, 0));
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

/* A worker's arena, item after item: no allocator call once it has seen the largest. */
static void released_chunks_are_used_again(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 4096);
    struct csni_arena_mark mark = csni_arena_get_mark(&arena);
    uint64_t calls = 0;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 50000; i++) {
            uint64_t *p = csni_arena_alloc(&arena, 64);
            assert_non_null(p);
            p[7] = (uint64_t)round;
        }
        csni_arena_release(&arena, mark);
        if (round == 0) calls = atomic_load(&t.calls);
    }
    assert_true(atomic_load(&t.calls) == calls);
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

static void spare_chunks_that_are_too_small_go(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 256);
    struct csni_arena_mark mark = csni_arena_get_mark(&arena);
    for (int i = 0; i < 100; i++) assert_non_null(csni_arena_alloc(&arena, 40));
    csni_arena_release(&arena, mark);
    for (int i = 0; i < 10; i++) {
        uint8_t *p = csni_arena_alloc(&arena, 1000);
        assert_non_null(p);
        memset(p, 1, 1000);
    }
    assert_true(arena.total == atomic_load(&t.live_bytes));
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

static void out_of_memory(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_arena arena;
    csni_arena_init(&arena, &t.base, 4096);
    assert_null(csni_arena_alloc(&arena, SIZE_MAX));
    assert_null(csni_arena_alloc(&arena, SIZE_MAX - 7));
    assert_null(csni_arena_alloc(&arena, SIZE_MAX - 64));
    test_allocator_fail(&t, 1, 1);
    assert_null(csni_arena_alloc(&arena, 0));
    assert_null(csni_arena_alloc(&arena, 100));
    assert_null(csni_arena_alloc(&arena, 100000));
    assert_null(csni_arena_copy(&arena, "x", 1));
    test_allocator_fail(&t, 0, 0);
    char *kept = csni_arena_copy(&arena, "kept", 4);
    test_allocator_fail(&t, 1, 1);
    size_t got = 0;
    while (csni_arena_alloc(&arena, 64)) got++;
    assert_in_range(got, 50, 64); /* the rest of the chunk; and then it goes on failing */
    assert_null(csni_arena_alloc(&arena, 64));
    assert_null(csni_arena_alloc(&arena, 100000));
    assert_string_equal(kept, "kept");
    csni_arena_deinit(&arena);
    test_allocator_check_empty(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_aligned_and_apart),
        cmocka_unit_test(chunks_grow_to_a_limit),
        cmocka_unit_test(a_big_object_wastes_nothing),
        cmocka_unit_test(copies),
        cmocka_unit_test(marks_within_a_chunk),
        cmocka_unit_test(marks_across_chunks),
        cmocka_unit_test(released_chunks_are_used_again),
        cmocka_unit_test(spare_chunks_that_are_too_small_go),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
