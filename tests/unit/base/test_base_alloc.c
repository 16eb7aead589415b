/* base/core/alloc.c, and the test allocator itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/alloc.h"
#include "support/test_alloc.h"

static void both_allocators(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    const struct csn_allocator *allocators[] = { NULL, &csni_libc_allocator, &t.base };
    for (size_t i = 0; i < 3; i++) {
        const struct csn_allocator *a = allocators[i];
        char *p = csni_alloc(a, 10);
        assert_non_null(p);
        memcpy(p, "0123456789", 10);
        p = csni_realloc(a, p, 10, 100000);
        assert_non_null(p);
        assert_memory_equal(p, "0123456789", 10);
        p = csni_realloc(a, p, 100000, 4);
        assert_memory_equal(p, "0123", 4);
        csni_free(a, p, 4);
        p = csni_realloc(a, NULL, 0, 8);
        assert_non_null(p);
        assert_null(csni_realloc(a, p, 8, 0));
        csni_free(a, NULL, 0);
    }
    test_allocator_check_empty(&t);
}

static void zeroed(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    const struct csn_allocator *allocators[] = { &csni_libc_allocator, &t.base };
    for (size_t i = 0; i < 2; i++) {
        uint64_t *p = csni_alloc_zeroed(allocators[i], 100, sizeof *p);
        assert_non_null(p);
        for (size_t k = 0; k < 100; k++) assert_true(p[k] == 0);
        csni_free(allocators[i], p, 100 * sizeof *p);
        assert_null(csni_alloc_zeroed(allocators[i], SIZE_MAX / 4, 8));
        assert_null(csni_alloc_zeroed(allocators[i], 0, 8));
        assert_null(csni_alloc_zeroed(allocators[i], 8, 0));
        assert_null(csni_alloc(allocators[i], 0));
    }
    test_allocator_check_empty(&t);
}

static void counts_and_failures(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    void *a = csni_alloc(&t.base, 100), *b = csni_alloc(&t.base, 50);
    assert_int_equal(atomic_load(&t.live_bytes), 150);
    assert_int_equal(atomic_load(&t.live_blocks), 2);
    test_allocator_fail(&t, 2, 0);
    void *c = csni_alloc(&t.base, 1);
    assert_non_null(c);
    assert_null(csni_realloc(&t.base, b, 50, 60)); /* b is still there */
    b = csni_realloc(&t.base, b, 50, 60);
    assert_non_null(b);
    assert_int_equal(atomic_load(&t.refused), 1);
    test_allocator_fail(&t, 1, 1);
    assert_null(csni_alloc(&t.base, 1));
    assert_null(csni_alloc_zeroed(&t.base, 1, 1));
    assert_int_equal(atomic_load(&t.refused), 3);
    assert_int_equal(atomic_load(&t.calls), 7);
    csni_free(&t.base, a, 100);
    csni_free(&t.base, b, 60);
    csni_free(&t.base, c, 1);
    test_allocator_check_empty(&t);
    assert_int_equal(atomic_load(&t.peak_bytes), 211); /* both of b while it moves */
    test_allocator_fail(&t, 0, 0);
    a = csni_alloc(&t.base, 1);
    assert_non_null(a);
    csni_free(&t.base, a, 1);
}

static csn_status three_blocks(void *context, const struct csn_allocator *alloc) {
    (void)context;
    void *blocks[3] = { NULL };
    csn_status status = CSN_OK;
    for (size_t i = 0; i < 3 && status == CSN_OK; i++) {
        blocks[i] = csni_alloc(alloc, i + 1);
        if (!blocks[i]) status = CSN_E_MEMORY;
    }
    for (size_t i = 0; i < 3; i++) csni_free(alloc, blocks[i], i + 1);
    return status;
}

static void sweep(void **state) {
    (void)state;
    assert_int_equal(test_allocator_sweep(three_blocks, NULL, 0), 4);
    assert_int_equal(test_allocator_sweep(three_blocks, NULL, 1), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_allocators),
        cmocka_unit_test(zeroed),
        cmocka_unit_test(counts_and_failures),
        cmocka_unit_test(sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
