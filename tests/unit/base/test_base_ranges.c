/* base/core/ranges.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/ranges.h"

struct wide {
    uint64_t start, end;
};
struct named { /* in another place, under other names, with more beside them */
    uint16_t name;
    uint32_t high, low;
    uint64_t more;
};

static void none_and_one(void **state) {
    (void)state;
    struct wide *none = NULL, one = { 5, 7 };
    assert_int_equal(csni_join_ranges(none, 0, start, end), 0);
    assert_int_equal(csni_join_ranges(&one, 1, start, end), 1);
    assert_true(one.start == 5 && one.end == 7);
}

static void overlaps_and_neighbours_join(void **state) {
    (void)state;
    struct wide r[] = { { 30, 40 }, { 10, 20 }, { 20, 25 }, { 12, 14 }, { 26, 28 }, { 39, 50 }, { 10, 11 } };
    assert_int_equal(csni_join_ranges(r, 7, start, end), 3);
    assert_true(r[0].start == 10 && r[0].end == 25);
    assert_true(r[1].start == 26 && r[1].end == 28);
    assert_true(r[2].start == 30 && r[2].end == 50);
}

static void sorted_ones_stay(void **state) {
    (void)state;
    struct wide r[] = { { 0, 1 }, { 2, 3 }, { UINT64_MAX - 1, UINT64_MAX } };
    assert_int_equal(csni_join_ranges(r, 3, start, end), 3);
    assert_true(r[0].end == 1 && r[1].start == 2 && r[2].end == UINT64_MAX);
}

static void ends_at_2_to_64(void **state) {
    (void)state;
    struct wide r[] = { { UINT64_MAX, UINT64_MAX }, { 1, UINT64_MAX }, { 0, 1 } };
    assert_int_equal(csni_join_ranges(r, 3, start, end), 1);
    assert_true(r[0].start == 0 && r[0].end == UINT64_MAX);
}

static void empty_ones_stay_apart(void **state) {
    (void)state;
    struct wide r[] = { { 9, 9 }, { 3, 5 }, { 5, 5 }, { 7, 7 }, { 7, 7 } };
    assert_int_equal(csni_join_ranges(r, 5, start, end), 3);
    assert_true(r[0].start == 3 && r[0].end == 5);
    assert_true(r[1].start == 7 && r[1].end == 7);
    assert_true(r[2].start == 9 && r[2].end == 9);
}

static void fields_of_any_name(void **state) {
    (void)state;
    struct named r[] = { { 1, UINT32_MAX, 9, 11 }, { 2, 8, 2, 22 }, { 3, 9, 8, 33 }, { 4, 1, 0, 44 } };
    assert_int_equal(csni_join_ranges(r, 4, low, high), 2);
    assert_true(r[0].low == 0 && r[0].high == 1 && r[0].name == 4 && r[0].more == 44);
    assert_true(r[1].low == 2 && r[1].high == UINT32_MAX && r[1].name == 2 && r[1].more == 22);
}

/* Against a map of bytes. */
static void random_ones(void **state) {
    (void)state;
    enum { SPACE = 64, COUNT = 12 };
    uint32_t seed = 7;
    for (unsigned round = 0; round < 2000; round++) {
        struct wide r[COUNT];
        uint8_t covered[SPACE + 1] = { 0 }, inner[SPACE + 1] = { 0 }; /* inner: a border that a range goes across, or two share */
        size_t count = round % (COUNT + 1);
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            uint64_t start = (seed >> 8) % SPACE, size = 1 + (seed >> 20) % 6;
            r[i] = (struct wide){ start, start + size < SPACE ? start + size : SPACE };
            for (uint64_t k = r[i].start; k < r[i].end; k++) covered[k] = 1;
        }
        for (size_t k = 1; k < SPACE; k++) inner[k] = covered[k - 1] && covered[k]; /* [1, 2) and [2, 3) touch */
        size_t kept = csni_join_ranges(r, count, start, end), at = 0;
        for (size_t k = 0; k < SPACE; k++) {
            if (!covered[k] || inner[k]) continue;
            assert_true(at < kept && r[at].start == k);
            while (inner[k + 1]) k++;
            assert_true(r[at++].end == k + 1);
        }
        assert_int_equal(at, kept);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_and_one),     cmocka_unit_test(overlaps_and_neighbours_join), cmocka_unit_test(sorted_ones_stay),
        cmocka_unit_test(ends_at_2_to_64),  cmocka_unit_test(empty_ones_stay_apart),        cmocka_unit_test(fields_of_any_name),
        cmocka_unit_test(random_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
