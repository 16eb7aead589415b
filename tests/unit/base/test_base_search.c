/* base/core/search.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/search.h"

struct wide {
    uint16_t before;
    uint64_t key;
    uint8_t after;
};

struct narrow {
    uint32_t other, key;
};

enum { MOST = 70 };

/* What a search must find, counted one by one. */
static size_t count_below(const uint64_t *keys, size_t count, uint64_t key, bool equal_too) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += keys[i] < key || (equal_too && keys[i] == key);
    return n;
}

static void check(const uint64_t *keys, size_t count, uint64_t key) {
    struct wide wide[MOST];
    struct narrow narrow[MOST];
    for (size_t i = 0; i < count; i++) {
        wide[i] = (struct wide){ UINT16_MAX, keys[i], UINT8_MAX };
        narrow[i] = (struct narrow){ UINT32_MAX, (uint32_t)keys[i] };
    }
    assert_int_equal(csni_lower_bound(wide, count, key, key), count_below(keys, count, key, false));
    assert_int_equal(csni_upper_bound(wide, count, key, key), count_below(keys, count, key, true));
    if (count && keys[count - 1] > UINT32_MAX) return;
    assert_int_equal(csni_lower_bound(narrow, count, key, key), count_below(keys, count, key, false));
    assert_int_equal(csni_upper_bound(narrow, count, key, key), count_below(keys, count, key, true));
}

static void finds_bounds_of_every_count(void **state) {
    (void)state;
    uint64_t keys[MOST];
    for (size_t count = 0; count <= MOST; count++) {
        for (size_t i = 0; i < count; i++) keys[i] = 3 + 2 * i;
        for (uint64_t key = 0; key < 2 * count + 6; key++) check(keys, count, key);
        check(keys, count, UINT64_MAX);
        for (size_t i = 0; i < count; i++) keys[i] = 7 + i / 5; /* equal ones */
        for (uint64_t key = 6; key < count / 5 + 9; key++) check(keys, count, key);
    }
}

static void finds_the_largest_keys(void **state) {
    (void)state;
    const uint64_t keys[] = { 0, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX };
    for (size_t count = 0; count <= 4; count++)
        for (size_t i = 0; i < 4; i++) check(keys, count, keys[i]);
    /* A key that no 32-bit field can have. */
    const struct narrow narrow[] = { { 0, 0 }, { 0, UINT32_MAX } };
    assert_int_equal(csni_lower_bound(narrow, 2, key, UINT32_MAX), 1);
    assert_int_equal(csni_upper_bound(narrow, 2, key, UINT32_MAX), 2);
    assert_int_equal(csni_lower_bound(narrow, 2, key, (uint64_t)1 << 32), 2);
}

static void takes_no_items(void **state) {
    (void)state;
    const struct wide *none = NULL;
    assert_int_equal(csni_lower_bound(none, 0, key, 5), 0);
    assert_int_equal(csni_upper_bound(none, 0, key, UINT64_MAX), 0);
    assert_int_equal(csni_search_field(CSNI_SEARCH_FIELD(none, key), 3, 3, true, 5), 3);
    const struct wide some[] = { { 0, 9, 0 }, { 0, 1, 0 }, { 0, 2, 0 }, { 0, 0, 0 } };
    assert_int_equal(csni_search_field(CSNI_SEARCH_FIELD(some, key), 1, 3, true, 1), 2);
    assert_int_equal(csni_search_field(CSNI_SEARCH_FIELD(some, key), 1, 3, false, 1), 1);
}

/* Counts the steps, and that none leaves the range. */
struct watched {
    size_t low, high;
    size_t *steps;
};

static bool watched_before(const void *context, size_t index, const void *key) {
    const struct watched *w = context;
    assert_true(index >= w->low && index < w->high);
    ++*w->steps;
    return index < *(const size_t *)key;
}

static void takes_few_steps_within_the_range(void **state) {
    (void)state;
    for (size_t count = 0; count < 40; count++) {
        size_t most = 0; /* the least number whose powers of two are enough for count + 1 outcomes */
        while (((size_t)1 << most) < count + 1) most++;
        for (size_t at = 0; at <= count; at++) {
            const size_t low = SIZE_MAX - 45, key = low + at; /* up to the end of all indexes */
            size_t steps = 0;
            struct watched w = { low, low + count, &steps };
            assert_true(csni_search_in(low, low + count, watched_before, &w, &key) == key);
            assert_true(steps <= most);
        }
    }
    size_t steps = 0, key = SIZE_MAX - 3;
    struct watched all = { 0, SIZE_MAX, &steps };
    assert_true(csni_search_in(0, SIZE_MAX, watched_before, &all, &key) == key);
    assert_true(steps <= 8 * sizeof(size_t));
}

static bool random_before(const void *context, size_t index, const void *key) {
    (void)key;
    return ((const uint8_t *)context)[index];
}

static void stays_in_range_without_order(void **state) {
    (void)state;
    uint8_t before[12];
    for (unsigned bits = 0; bits < 1u << 12; bits++) {
        for (unsigned i = 0; i < 12; i++) before[i] = bits >> i & 1;
        size_t at = csni_search_in(3, 9, random_before, before, NULL);
        assert_true(at >= 3 && at <= 9);
        assert_true(at == 3 || before[at - 1]); /* it has seen what is beside it */
        assert_true(at == 9 || !before[at]);
    }
}

static void narrows_to_the_rest(void **state) {
    (void)state;
    for (size_t count = 0; count < 50; count++)
        for (size_t until = 0; until < 12; until++)
            for (size_t key = 0; key <= count; key++) {
                size_t steps = 0;
                struct watched w = { 0, count, &steps };
                struct csni_search s = csni_search_narrow((struct csni_search){ 0, count }, until, watched_before, &w, &key);
                assert_true(s.left <= until);
                assert_true(s.first <= key && key <= s.first + s.left);
                s = csni_search_narrow(s, 0, watched_before, &w, &key);
                assert_true(s.first == key && s.left == 0);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_bounds_of_every_count),
        cmocka_unit_test(finds_the_largest_keys),
        cmocka_unit_test(takes_no_items),
        cmocka_unit_test(takes_few_steps_within_the_range),
        cmocka_unit_test(stays_in_range_without_order),
        cmocka_unit_test(narrows_to_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
