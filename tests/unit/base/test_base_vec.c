/* base/core/vec.h and vec.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/vec.h"
#include "support/test_alloc.h"

struct wide {
    uint64_t key;
    uint8_t bytes[24];
};

static void grows_and_keeps(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    CSNI_VEC(struct wide) v = { .alloc = &t.base };
    for (uint64_t i = 0; i < 100000; i++) assert_true(csni_vec_push(&v, ((struct wide){ .key = i })));
    assert_int_equal(v.count, 100000);
    assert_true(v.capacity >= v.count && v.capacity <= v.count * 3 / 2 + 8);
    for (uint64_t i = 0; i < 100000; i++) assert_true(v.items[i].key == i);
    assert_true(atomic_load(&t.calls) < 40);
    csni_vec_deinit(&v);
    assert_null(v.items);
    assert_int_equal(v.count + v.capacity, 0);
    csni_vec_deinit(&v);
    test_allocator_check_empty(&t);
}

static void reserve_is_exact_enough(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    CSNI_VEC(uint16_t) v = { .alloc = &t.base };
    size_t none = 0;
    assert_true(csni_vec_reserve(&v, none));
    assert_null(v.items);
    assert_true(csni_vec_reserve(&v, 12345));
    assert_int_equal(v.capacity, 12345);
    assert_true(csni_vec_reserve(&v, 10));
    assert_int_equal(atomic_load(&t.calls), 1);
    csni_vec_deinit(&v);
    test_allocator_check_empty(&t);
}

static void out_of_memory(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    CSNI_VEC(struct wide) v = { .alloc = &t.base };
    test_allocator_fail(&t, 1, 1);
    bool pushed = csni_vec_push(&v, ((struct wide){ .key = 1 }));
    assert_false(pushed);
    assert_int_equal(v.count, 0);
    test_allocator_fail(&t, 0, 0);
    for (uint64_t i = 0; i < 8; i++) assert_true(csni_vec_push(&v, ((struct wide){ .key = i })));
    test_allocator_fail(&t, 1, 1);
    pushed = csni_vec_push(&v, ((struct wide){ .key = 8 }));
    assert_false(pushed);
    assert_int_equal(v.count, 8);
    for (uint64_t i = 0; i < 8; i++) assert_true(v.items[i].key == i);
    /* a product that overflows never reaches the allocator */
    uint64_t calls = atomic_load(&t.calls);
    assert_false(csni_vec_reserve(&v, SIZE_MAX / 16));
    assert_false(csni_vec_reserve(&v, SIZE_MAX));
    assert_true(atomic_load(&t.calls) == calls);
    csni_vec_deinit(&v);
    test_allocator_check_empty(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(reserve_is_exact_enough),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
