/* How conversions of a folder share cores and memory. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "open/fill_admission.h"

enum { MB = 1 << 20 };

static void large_ones(void **state) {
    (void)state;
    struct csni_admission a;
    csni_admission_init(&a, 4, 108 * MB);
    assert_false(csni_admission_is_large(&a, 20 * MB));
    assert_true(csni_admission_is_large(&a, 26 * MB));
    csni_admission_deinit(&a);
    csni_admission_init(&a, 1, 1);
    assert_false(csni_admission_is_large(&a, 20 * MB)); /* it is alone anyway */
    csni_admission_deinit(&a);
    csni_admission_init(&a, 2, 0);
    assert_true(a.max_bytes > 0);
    csni_admission_deinit(&a);
}

static void given_and_given_back(void **state) {
    (void)state;
    struct csni_admission a;
    struct csni_admitted first, second, none;
    csni_admission_init(&a, 2, 108 * MB);
    csni_admission_enter(&a, 0, 1, 60 * MB, &first);
    csni_admission_enter(&a, 1, 1, 30 * MB, &second);
    assert_int_equal(a.free_cores, 0);
    assert_int_equal(a.held_bytes, 90 * MB);
    csni_admission_yield(&first, 5 * MB);
    assert_int_equal(a.free_cores, 1);
    assert_int_equal(a.held_bytes, 35 * MB);
    csni_admission_yield(&first, 50 * MB); /* never more than it has */
    assert_int_equal(a.held_bytes, 35 * MB);
    csni_admission_enter(&a, 2, 0, 0, &none);
    csni_admission_leave(&none);
    csni_admission_leave(&first);
    csni_admission_leave(&second);
    assert_int_equal(a.free_cores, 2);
    assert_int_equal(a.held_bytes, 0);
    /* More than there is at all. */
    csni_admission_enter(&a, 3, 2, 1000ull * MB, &first);
    csni_admission_leave(&first);
    csni_admission_deinit(&a);
}

struct item {
    struct csni_admission *admission;
    size_t file;
    uint32_t cores;
    uint64_t bytes;
    uint32_t *inside;       /* guarded by the admission's mutex */
    uint64_t *most_bytes;
    size_t *entered;
};

static void *convert(void *argument) {
    struct item *item = argument;
    struct csni_admission *a = item->admission;
    struct csni_admitted admitted;
    csni_admission_enter(a, item->file, item->cores, item->bytes, &admitted);
    pthread_mutex_lock(&a->mutex);
    *item->inside += item->cores;
    if (*item->inside > a->cores) *item->inside = 1000;
    if (a->held_bytes > *item->most_bytes) *item->most_bytes = a->held_bytes;
    ++*item->entered;
    *item->inside -= item->cores;
    pthread_mutex_unlock(&a->mutex);
    csni_admission_leave(&admitted);
    return NULL;
}

/* Threads come in any order: files enter in theirs, and none is left waiting. */
static void all_get_their_turn(void **state) {
    (void)state;
    enum { FILES = 24 };
    struct csni_admission a;
    struct item items[FILES];
    pthread_t threads[FILES];
    uint32_t inside = 0;
    uint64_t most = 0;
    size_t entered = 0;
    csni_admission_init(&a, 3, 48 * MB);
    for (size_t i = FILES; i-- > 0;) {
        items[i] =
            (struct item){ &a, i, i % 5 == 0 ? 3 : i % 5 == 1 ? 0 : 1, (uint64_t)(i % 4) * 10 * MB, &inside, &most, &entered };
        assert_int_equal(pthread_create(&threads[i], NULL, convert, &items[i]), 0);
    }
    for (size_t i = 0; i < FILES; i++) pthread_join(threads[i], NULL);
    assert_int_equal(entered, FILES);
    assert_int_equal(inside, 0);
    assert_true(most <= a.max_bytes);
    assert_int_equal(a.next, FILES);
    assert_int_equal(a.free_cores, 3);
    csni_admission_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(large_ones), cmocka_unit_test(given_and_given_back),
                                        cmocka_unit_test(all_get_their_turn) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
