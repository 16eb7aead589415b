/* base/core/checked.h and base/core/hash.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/checked.h"
#include "base/hash.h"

static void sums(void **state) {
    (void)state;
    uint64_t out = 7;
    assert_true(csni_add_u64(UINT64_MAX - 1, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_true(csni_add_u64(0, 0, &out));
    assert_true(out == 0);
    out = 7;
    assert_false(csni_add_u64(UINT64_MAX, 1, &out));
    assert_false(csni_add_u64(1, UINT64_MAX, &out));
    assert_false(csni_add_u64(UINT64_MAX, UINT64_MAX, &out));
    assert_true(out == 7);
}

static void products(void **state) {
    (void)state;
    uint64_t out = 7;
    assert_true(csni_mul_u64(UINT64_MAX, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_true(csni_mul_u64(UINT64_MAX, 0, &out));
    assert_true(out == 0);
    assert_true(csni_mul_u64(0, UINT64_MAX, &out));
    assert_true(csni_mul_u64((uint64_t)1 << 32, ((uint64_t)1 << 32) - 1, &out));
    assert_true(out == 0xffffffff00000000u);
    out = 7;
    assert_false(csni_mul_u64((uint64_t)1 << 32, (uint64_t)1 << 32, &out));
    assert_false(csni_mul_u64(UINT64_MAX, 2, &out));
    assert_true(out == 7);

    size_t size = 7;
    assert_false(csni_mul_size(SIZE_MAX / 2 + 1, 2, &size));
    assert_int_equal(size, 7);
    assert_true(csni_mul_size(SIZE_MAX / 2, 2, &size));
    assert_true(size == SIZE_MAX - 1);
    assert_true(csni_mul_size(SIZE_MAX, 0, &size));
    assert_int_equal(size, 0);
}

static void alignment(void **state) {
    (void)state;
    assert_true(csni_align_up(0, 8) == 0);
    assert_true(csni_align_up(1, 8) == 8);
    assert_true(csni_align_up(8, 8) == 8);
    assert_true(csni_align_up(4097, 4096) == 8192);
    assert_true(csni_align_up(5, 1) == 5);
}

static void hashes_differ(void **state) {
    (void)state;
    assert_true(csni_hash_u64(1) != csni_hash_u64(2));
    assert_true(csni_hash_u64(1) != csni_hash_u64((uint64_t)1 << 32));
    assert_true((csni_hash_u64(1) & 0xff) != (csni_hash_u64((uint64_t)1 << 60) & 0xff));
    assert_true(csni_hash_bytes("main", 4) != csni_hash_bytes("mai", 3));
    assert_true(csni_hash_bytes("", 0) == csni_hash_bytes("x", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(products),
        cmocka_unit_test(alignment),
        cmocka_unit_test(hashes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
