/* base/core/span.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/span.h"

static const uint8_t bytes[] = { 'a', 'b', 0, 'c', 'd' };
static const struct csni_span whole = { bytes, sizeof bytes }, nothing = { NULL, 0 };

static void parts(void **state) {
    (void)state;
    struct csni_span s;
    assert_true(csni_span_sub(whole, 1, 3, &s));
    assert_ptr_equal(s.ptr, bytes + 1);
    assert_int_equal(s.size, 3);
    assert_true(csni_span_sub(whole, 0, 5, &s));
    assert_true(csni_span_sub(whole, 5, 0, &s));
    assert_int_equal(s.size, 0);
    assert_true(csni_span_sub(nothing, 0, 0, &s));
    assert_null(s.ptr);

    s = (struct csni_span){ bytes, 42 };
    assert_false(csni_span_sub(whole, 0, 6, &s));
    assert_false(csni_span_sub(whole, 5, 1, &s));
    assert_false(csni_span_sub(whole, 6, 0, &s));
    assert_false(csni_span_sub(whole, 1, UINT64_MAX, &s));
    assert_false(csni_span_sub(whole, UINT64_MAX, 1, &s));
    assert_false(csni_span_sub(nothing, 0, 1, &s));
    assert_ptr_equal(s.ptr, bytes);
    assert_int_equal(s.size, 42);
}

static void rests(void **state) {
    (void)state;
    struct csni_span s = csni_span_from(whole, 4);
    assert_ptr_equal(s.ptr, bytes + 4);
    assert_int_equal(s.size, 1);
    assert_int_equal(csni_span_from(whole, 5).size, 0);
    assert_int_equal(csni_span_from(whole, UINT64_MAX).size, 0);
    assert_null(csni_span_from(nothing, 0).ptr);
}

static void terminated_strings(void **state) {
    (void)state;
    struct csn_str s;
    assert_true(csni_span_cstr(whole, 0, &s));
    assert_true(csni_str_is(s, "ab"));
    assert_true(csni_span_cstr(whole, 2, &s));
    assert_true(csni_str_is(s, ""));
    assert_false(csni_span_cstr(whole, 3, &s)); /* no end: the rest */
    assert_true(csni_str_is(s, "cd"));
    assert_false(csni_span_cstr(whole, 5, &s));
    assert_true(csni_str_is(s, ""));
    assert_false(csni_span_cstr(nothing, 0, &s));
    assert_non_null(s.ptr);
}

static void equality(void **state) {
    (void)state;
    struct csn_str none = { NULL, 0 };
    assert_true(csni_str_equal(none, csni_str("")));
    assert_true(csni_str_is(none, ""));
    assert_false(csni_str_is(none, "a"));
    assert_false(csni_str_equal(csni_str("ab"), csni_str("ac")));
    assert_false(csni_str_equal(csni_str("ab"), csni_str("abc")));
    assert_true(csni_str_equal((struct csn_str){ "a\0b", 3 }, (struct csn_str){ "a\0b", 3 }));
    assert_false(csni_str_equal((struct csn_str){ "a\0b", 3 }, (struct csn_str){ "a\0c", 3 }));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(rests),
        cmocka_unit_test(terminated_strings),
        cmocka_unit_test(equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
