/* base/core/sort.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/sort.h"


struct odd { /* of a size that no word has */
    uint8_t key[3];
    uint8_t rest[38];
};

static bool odd_before(const void *context, const void *a, const void *b) {
    (void)context;
    return memcmp(((const struct odd *)a)->key, ((const struct odd *)b)->key, sizeof((struct odd *)0)->key) < 0;
}

static bool place_before(const void *context, const void *a, const void *b) {
    const uint64_t *keys = context;
    return keys[*(const uint32_t *)a] < keys[*(const uint32_t *)b];
}

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

static void sorts_orders(void **state) {
    (void)state;
    enum { MOST = 300 };
    uint32_t seed = 1;
    for (uint32_t count = 0; count < MOST; count++) {
        uint64_t keys[MOST];
        uint32_t order[MOST];
        uint8_t seen[MOST] = { 0 };
        uint32_t spread = count % 3 ? UINT32_MAX : 16; /* with many equal ones, too */
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = (next_random(&seed) >> 8) % spread;
            order[i] = i;
        }
        csni_heap_sort(order, count, sizeof *order, place_before, keys);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(seen[order[i]]++, 0);
            if (i) assert_true(keys[order[i - 1]] <= keys[order[i]]);
        }
    }
}

static void sorts_wide_elements(void **state) {
    (void)state;
    struct odd items[200];
    uint32_t seed = 2;
    for (size_t i = 0; i < 200; i++) {
        uint32_t v = next_random(&seed);
        memcpy(items[i].key, &v, sizeof items[i].key);
        memset(items[i].rest, items[i].key[0] ^ items[i].key[1], sizeof items[i].rest);
    }
    csni_heap_sort(items, 200, sizeof *items, odd_before, NULL);
    for (size_t i = 0; i < 200; i++) {
        if (i) assert_false(odd_before(NULL, &items[i], &items[i - 1]));
        for (size_t k = 0; k < sizeof items[i].rest; k++) assert_int_equal(items[i].rest[k], items[i].key[0] ^ items[i].key[1]);
    }
}

static void knows_what_is_sorted(void **state) {
    (void)state;
    const uint64_t keys[] = { 0, 1, 1, UINT64_MAX };
    uint32_t order[] = { 0, 1, 2, 3 };
    for (size_t count = 0; count <= 4; count++) assert_true(csni_is_sorted(order, count, sizeof *order, place_before, keys));
    order[2] = 1, order[1] = 2; /* equal ones may stand either way */
    assert_true(csni_is_sorted(order, 4, sizeof *order, place_before, keys));
    order[3] = 0;
    assert_true(csni_is_sorted(order, 3, sizeof *order, place_before, keys));
    assert_false(csni_is_sorted(order, 4, sizeof *order, place_before, keys));
    assert_true(csni_is_sorted(NULL, 0, sizeof *order, place_before, keys));
}

static void merging_keeps_equals_in_order(void **state) {
    (void)state;
    enum { MOST = 300 };
    uint32_t seed = 3;
    for (uint32_t count = 0; count < MOST; count++) {
        uint64_t keys[MOST];
        uint32_t order[MOST], spare[MOST + 1];
        uint32_t spread = count % 3 == 0 ? 1 : count % 3 == 1 ? 16 : UINT32_MAX; /* all equal, many, none */
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = UINT64_MAX - (next_random(&seed) >> 8) % spread;
            order[i] = i;
        }
        spare[count] = 0xabcdef;
        csni_merge_sort(order, spare, count, sizeof *order, place_before, keys);
        assert_int_equal(spare[count], 0xabcdef);
        for (uint32_t i = 1; i < count; i++)
            assert_true(keys[order[i - 1]] < keys[order[i]] || (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
    }
}

static void merges_wide_elements(void **state) {
    (void)state;
    struct odd items[99], spare[99];
    for (size_t i = 0; i < 99; i++) {
        items[i] = (struct odd){ .key = { 0, 0, (uint8_t)((98 - i) / 2) } };
        memset(items[i].rest, (int)i, sizeof items[i].rest);
    }
    csni_merge_sort(items, spare, 99, sizeof *items, odd_before, NULL);
    for (size_t i = 0; i < 99; i++) {
        if (i) assert_false(odd_before(NULL, &items[i], &items[i - 1]));
        if (i && !odd_before(NULL, &items[i - 1], &items[i])) assert_true(items[i - 1].rest[0] < items[i].rest[37]);
    }
    csni_merge_sort(NULL, NULL, 0, sizeof *items, odd_before, NULL);
    csni_merge_sort(items, NULL, 1, sizeof *items, odd_before, NULL); /* one is sorted, there is nothing to merge */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_what_is_sorted),
        cmocka_unit_test(merging_keeps_equals_in_order),
        cmocka_unit_test(merges_wide_elements),
        cmocka_unit_test(sorts_orders),
        cmocka_unit_test(sorts_wide_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
