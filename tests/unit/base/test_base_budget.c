/* base/core/budget.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/alloc.h"
#include "base/core/budget.h"
#include "base/thread_pool.h"

static void charges_up_to_the_limit(void **state) {
    (void)state;
    struct csni_budget b = { .limit = 10 };
    assert_int_equal(csni_budget_left(&b), 10);
    assert_true(csni_budget_charge(&b, 0));
    assert_true(csni_budget_charge(&b, 7));
    assert_int_equal(csni_budget_left(&b), 3);
    assert_false(csni_budget_is_exhausted(&b));
    assert_true(csni_budget_charge(&b, 3));
    assert_true(csni_budget_is_exhausted(&b));
    assert_true(csni_budget_charge(&b, 0));
    assert_false(csni_budget_charge(&b, 1));
}

static void a_refused_charge_exhausts(void **state) {
    (void)state;
    struct csni_budget b = { .limit = 10 };
    assert_true(csni_budget_charge(&b, 1));
    assert_false(csni_budget_charge(&b, 10));
    assert_true(csni_budget_is_exhausted(&b));
    assert_int_equal(csni_budget_left(&b), 0);
    assert_false(csni_budget_charge(&b, 1)); /* which fitted before */
}

static void amounts_of_2_to_64(void **state) {
    (void)state;
    struct csni_budget b = { .limit = 10 };
    assert_true(csni_budget_charge(&b, 5));
    assert_false(csni_budget_charge(&b, UINT64_MAX)); /* the sum would be 4 */
    struct csni_budget all = { .limit = UINT64_MAX };
    assert_true(csni_budget_charge(&all, UINT64_MAX - 1));
    assert_true(csni_budget_charge(&all, 1));
    assert_false(csni_budget_charge(&all, 1));
    struct csni_budget none = { .limit = 0 };
    assert_true(csni_budget_is_exhausted(&none));
    assert_false(csni_budget_charge(&none, 1));
}

static void limits_by_size(void **state) {
    (void)state;
    assert_int_equal(csni_budget_for(5, 7, 3).limit, 26);
    assert_int_equal(csni_budget_for(5, 0, 3).limit, 5);
    assert_true(csni_budget_for(5, UINT64_MAX, 1).limit == UINT64_MAX);
    assert_true(csni_budget_for(0, UINT64_MAX / 2 + 1, 2).limit == UINT64_MAX);
    assert_true(csni_budget_for(0, UINT64_MAX / 2, 2).limit == UINT64_MAX - 1);
}

static void shared_sums_do_not_wrap(void **state) {
    (void)state;
    struct csni_shared_budget b;
    csni_shared_budget_init(&b, 10);
    assert_true(csni_shared_budget_charge(&b, 10));
    assert_false(csni_shared_budget_charge(&b, 1));
    assert_false(csni_shared_budget_charge(&b, 0)); /* what is above stays above */
    csni_shared_budget_raise(&b, 5);
    assert_int_equal(csni_shared_budget_limit(&b), 15);
    assert_true(csni_shared_budget_charge(&b, 4));
    assert_false(csni_shared_budget_charge(&b, UINT64_MAX - 3));
    assert_false(csni_shared_budget_charge(&b, UINT64_MAX));
    csni_shared_budget_raise(&b, UINT64_MAX);
    assert_true(csni_shared_budget_limit(&b) == UINT64_MAX);
}

enum { CHARGES = 10000, AMOUNT = 3 };

static csn_status charge_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    (void)err;
    csni_shared_budget_charge(context, AMOUNT);
    return CSN_OK;
}

static void threads_share_one(void **state) {
    (void)state;
    struct csni_pool *pool;
    struct csni_shared_budget b;
    csni_shared_budget_init(&b, (uint64_t)CHARGES * AMOUNT);
    assert_int_equal(csni_pool_create(4, &csni_libc_allocator, &pool, NULL), CSN_OK);
    assert_int_equal(csni_pool_run(pool, CHARGES, charge_one, &b, NULL), CSN_OK);
    csni_pool_destroy(pool);
    assert_true(csni_shared_budget_charge(&b, 0));
    assert_false(csni_shared_budget_charge(&b, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charges_up_to_the_limit), cmocka_unit_test(a_refused_charge_exhausts),
        cmocka_unit_test(amounts_of_2_to_64),      cmocka_unit_test(limits_by_size),
        cmocka_unit_test(shared_sums_do_not_wrap), cmocka_unit_test(threads_share_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
