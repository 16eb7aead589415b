/* base/lines.h and base/hex.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hex.h"
#include "base/lines.h"

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

static void gives_the_next_beginning(void **state) {
    (void)state;
    const char text[] = "a\r\n\n\r\nlast";
    const char *end = text + sizeof text - 1, *p = text;
    struct csn_str line;
    p = csni_next_line(p, end, &line);
    assert_true(p == text + 3 && csni_str_is(line, "a"));
    p = csni_next_line(p, end, &line);
    assert_true(p == text + 4 && line.len == 0 && line.ptr == text + 3);
    p = csni_next_line(p, end, &line);
    assert_true(p == text + 6 && line.len == 0);
    p = csni_next_line(p, end, &line);
    assert_true(p == end && csni_str_is(line, "last"));
    p = csni_next_line(p, end, &line);
    assert_true(p == end && line.len == 0);
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

static void shows_ids(void **state) {
    (void)state;
    uint8_t id[40];
    for (size_t i = 0; i < sizeof id; i++) id[i] = (uint8_t)(0xf8 + i);
    char text[2 * 3 + 1];
    csni_hex_text(id + 7, 3, text);
    assert_string_equal(text, "ff0001");
    assert_string_equal(csni_id_show(id, 2).text, "f8f9");
    assert_string_equal(csni_id_show(NULL, 0).text, "");
    assert_int_equal(strlen(csni_id_show(id, 32).text), 64);
    assert_string_equal(csni_id_show(id, 40).text, csni_id_show(id, 32).text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_lines),
        cmocka_unit_test(gives_the_next_beginning),
        cmocka_unit_test(values_digits),
        cmocka_unit_test(knows_beginnings),
        cmocka_unit_test(shows_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
