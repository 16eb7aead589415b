/* base/text.h and text.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static struct csni_lines lines_of(const char *text) {
    return (struct csni_lines){ { (const uint8_t *)text, strlen(text) }, 0 };
}

static void gives_lines(void **state) {
    (void)state;
    struct csni_lines lines = lines_of("one\ntwo\r\n\n\r\r\nlast");
    const char *const expected[] = { "one", "two", "", "\r", "last" };
    struct csn_str line;
    for (size_t i = 0; i < 5; i++) {
        assert_true(csni_lines_next(&lines, &line));
        assert_true(csni_str_is(line, expected[i]));
        assert_int_equal(lines.number, i + 1);
    }
    assert_false(csni_lines_next(&lines, &line));
    assert_false(csni_lines_next(&lines, &line));
    assert_int_equal(lines.number, 5);
    lines = (struct csni_lines){ { NULL, 0 }, 0 };
    assert_false(csni_lines_next(&lines, &line));
    lines = lines_of("ended\n");
    assert_true(csni_lines_next(&lines, &line));
    assert_false(csni_lines_next(&lines, &line));
}

static void values_digits(void **state) {
    (void)state;
    const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    for (int c = 0; c < 256; c++) {
        const char *at = c ? strchr(lower, c) : NULL;
        const char *capital = c ? strchr(upper, c) : NULL;
        unsigned value = csni_hex_digit((char)c);
        if (at) assert_int_equal(value, at - lower);
        else if (capital) assert_int_equal(value, capital - upper);
        else assert_true(value > 15);
        assert_int_equal(csni_is_blank((char)c), c == ' ' || c == '\t');
    }
}

static void knows_beginnings(void **state) {
    (void)state;
    assert_true(csni_str_starts(csni_str("__DATA_CONST"), "__DATA"));
    assert_true(csni_str_starts(csni_str("__DATA"), "__DATA"));
    assert_false(csni_str_starts(csni_str("__DAT"), "__DATA"));
    assert_false(csni_str_starts(csni_str("_DATA__"), "__DATA"));
    assert_true(csni_str_starts(csni_str(""), ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_lines),
        cmocka_unit_test(values_digits),
        cmocka_unit_test(knows_beginnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
