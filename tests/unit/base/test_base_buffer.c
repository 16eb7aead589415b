/* base/buffer.h and buffer.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "support/test_alloc.h"

static void grows_and_keeps(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_buffer b = { .alloc = &t.base };
    for (uint32_t i = 0; i < 100000; i++) csni_buffer_put(&b, &i, sizeof i);
    csni_buffer_put(&b, NULL, 0);
    assert_false(b.failed);
    assert_int_equal(b.size, 400000);
    for (uint32_t i = 0; i < 100000; i++) assert_memory_equal(b.bytes + i * sizeof i, &i, sizeof i);
    assert_true(atomic_load(&t.calls) < 12);
    csni_buffer_deinit(&b);
    assert_null(b.bytes);
    csni_buffer_deinit(&b);
    test_allocator_check_empty(&t);
}

static void gives_room_without_taking_it(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_buffer b = { .alloc = &t.base };
    csni_buffer_put(&b, "abc", 3);
    uint8_t *p = csni_buffer_reserve(&b, 1 << 20);
    assert_ptr_equal(p, b.bytes + 3);
    assert_int_equal(b.size, 3);
    assert_true(b.capacity >= (1 << 20) + 3);
    csni_buffer_deinit(&b);
    test_allocator_check_empty(&t);
}

static void stays_failed(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_buffer b = { .alloc = &t.base };
    csni_buffer_put(&b, "abc", 3);
    assert_null(csni_buffer_reserve(&b, SIZE_MAX - 2)); /* no such size */
    assert_true(b.failed);
    csni_buffer_put(&b, "d", 1);
    assert_int_equal(b.size, 3);
    csni_buffer_deinit(&b);

    struct csni_buffer c = { .alloc = &t.base };
    test_allocator_fail(&t, 1, 1);
    csni_buffer_put(&c, "abc", 3);
    test_allocator_fail(&t, 0, 0);
    assert_true(c.failed);
    assert_null(csni_buffer_reserve(&c, 1));
    csni_buffer_deinit(&c);
    test_allocator_check_empty(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(gives_room_without_taking_it),
        cmocka_unit_test(stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
