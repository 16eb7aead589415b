/* base/core/leb128.h: what is written reads back, in the size that was told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/cursor.h"
#include "base/leb128.h"

static void check_unsigned(uint64_t v) {
    uint8_t bytes[CSNI_LEB_MAX + 1];
    memset(bytes, 0xee, sizeof bytes);
    size_t size = (size_t)(csni_put_uleb(bytes, v) - bytes);
    assert_int_equal(size, csni_uleb_size(v));
    assert_int_equal(bytes[size], 0xee);
    struct csni_cursor c = csni_cursor_at((struct csni_span){ bytes, size }, false);
    assert_true(csni_cursor_uleb(&c) == v);
    assert_false(c.failed);
    assert_int_equal(csni_cursor_left(&c), 0);
}

static void check_signed(int64_t v) {
    uint8_t bytes[CSNI_LEB_MAX + 1];
    memset(bytes, 0xee, sizeof bytes);
    size_t size = (size_t)(csni_put_sleb(bytes, v) - bytes);
    assert_int_equal(size, csni_sleb_size(v));
    assert_int_equal(bytes[size], 0xee);
    struct csni_cursor c = csni_cursor_at((struct csni_span){ bytes, size }, false);
    assert_true(csni_cursor_sleb(&c) == v);
    assert_false(c.failed);
    assert_int_equal(csni_cursor_left(&c), 0);
}

static void every_power_of_two_and_its_neighbours(void **state) {
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t power = (uint64_t)1 << bit;
        for (uint64_t v = power - 1; v != power + 2; v++) {
            check_unsigned(v);
            check_unsigned(~v);
            check_signed((int64_t)v);
            check_signed((int64_t)~v);
        }
    }
}

static void sizes(void **state) {
    (void)state;
    assert_int_equal(csni_uleb_size(0), 1);
    assert_int_equal(csni_uleb_size(127), 1);
    assert_int_equal(csni_uleb_size(128), 2);
    assert_int_equal(csni_uleb_size(((uint64_t)1 << 63) - 1), 9);
    assert_int_equal(csni_uleb_size(UINT64_MAX), CSNI_LEB_MAX);
    assert_int_equal(csni_sleb_size(63), 1);
    assert_int_equal(csni_sleb_size(64), 2);
    assert_int_equal(csni_sleb_size(-64), 1);
    assert_int_equal(csni_sleb_size(-65), 2);
    assert_int_equal(csni_sleb_size(INT64_MAX), CSNI_LEB_MAX);
    assert_int_equal(csni_sleb_size(INT64_MIN), CSNI_LEB_MAX);
}

static void known_bytes(void **state) {
    (void)state;
    uint8_t bytes[CSNI_LEB_MAX];
    assert_ptr_equal(csni_put_uleb(bytes, 624485), bytes + 3);
    assert_memory_equal(bytes, "\xe5\x8e\x26", 3);
    assert_ptr_equal(csni_put_sleb(bytes, -123456), bytes + 3);
    assert_memory_equal(bytes, "\xc0\xbb\x78", 3);
    assert_ptr_equal(csni_put_sleb(bytes, INT64_MIN), bytes + 10);
    assert_memory_equal(bytes, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_power_of_two_and_its_neighbours),
        cmocka_unit_test(sizes),
        cmocka_unit_test(known_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
