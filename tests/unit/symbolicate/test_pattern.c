/* symbolicate/pattern.c: exact names, selectors, expressions, and what hostile ones come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/core/span.h"
#include "symbolicate/pattern.h"

static struct csni_patterns patterns;

static enum csni_match match(const char *pattern, const char *name) {
    return csni_pattern_match(&patterns, csni_str(pattern), csni_str(name));
}

#define YES(pattern, name) assert_int_equal(match(pattern, name), CSNI_MATCH_YES)
#define NO(pattern, name) assert_int_equal(match(pattern, name), CSNI_MATCH_NO)

static void exact_names(void **state) {
    (void)state;
    YES("^area$", "area");
    NO("^area$", "areas");
    NO("^area$", "are");
    NO("^area$", "");
    YES("area", "area");
    NO("area", "my_area");
    assert_false(csni_pattern_is_exact(csni_str("^a\\0$")));
    assert_false(csni_pattern_is_exact(csni_str("^a\\9$")));
    assert_false(csni_pattern_is_exact(csni_str("^a\\z$")));
    YES("^operator\\(\\)\\$1\\.cold$", "operator()$1.cold");
    NO("^operator\\(\\)\\$1\\.cold$", "operator()$1xcold");
    YES("^a\\\\$", "a\\");
    YES("a$b", "a$b");
    assert_true(csni_pattern_is_exact(csni_str("^a\\.b$")));
    assert_true(csni_pattern_is_exact(csni_str("a")));
    assert_false(csni_pattern_is_exact(csni_str("^a")));
    assert_false(csni_pattern_is_exact(csni_str("a$")));
    assert_false(csni_pattern_is_exact(csni_str("")));
    assert_false(csni_pattern_is_exact(csni_str("^$")));
    assert_false(csni_pattern_is_exact(csni_str("^a\\$")));
    assert_false(csni_pattern_is_exact(csni_str("^a.b$")));
    assert_false(csni_pattern_is_exact(csni_str("^\\d$")));
    assert_false(csni_pattern_is_exact(csni_str("^a\\")));
}

static void selectors(void **state) {
    (void)state;
    YES("objc_msgSend$draw:", "-[Square draw:]");
    YES("^_objc_msgSend\\$draw:$", "+[Square(Drawing) draw:]");
    YES("objc_msgSend$draw:", "\1-[Square draw:]");
    YES("objc_msgSend$draw:", "objc_msgSend$draw:");
    YES("objc_msgSend$b", "-[A b]");
    NO("objc_msgSend$draw:", "-[Square draw]");
    NO("objc_msgSend$draw:", "-[Square draw:in:]");
    NO("objc_msgSend$draw:", "-[");
    NO("objc_msgSend$draw:", "draw:");
    assert_false(csni_pattern_is_exact(csni_str("objc_msgSend$draw:")));
    YES("^\\-\\[Square draw:\\]$", "-[Square draw:]");
}

static void skip_without_engine(void) {
    if (match("a.b", "a.b") == CSNI_MATCH_NO_ENGINE) skip();
}

static void expressions(void **state) {
    (void)state;
    skip_without_engine();
    YES("^_ZN.*4areaEv$", "_ZN6Square4areaEv");
    NO("^_ZN.*4areaEv$", "_ZN6Square4sizeEv");
    YES("a.e", "my_area");
    YES("^(circle|square)$", "square");
    NO("a$", "a\n");
    YES("", "anything");
}

static void bad_expressions(void **state) {
    (void)state;
    skip_without_engine();
    static char longest[6000];
    memset(longest, 'a', sizeof(longest) - 2);
    longest[sizeof(longest) - 2] = '.';
    static const char *const bad[] = { "((", "[", "(?", "a**", "\\", "(*UTF)a.", "(?C1", "a\\Cb" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        for (int again = 0; again < 2; again++) assert_int_equal(match(bad[i], "area"), CSNI_MATCH_BAD);
    assert_int_equal(match(longest, "area"), CSNI_MATCH_BAD);
    YES("^ar.a$", "area");
}

static void costly_expressions(void **state) {
    (void)state;
    skip_without_engine();
    static char name[2001], long_name[40001];
    memset(name, 'a', sizeof(name) - 1);
    memset(long_name, 'a', sizeof(long_name) - 1);
    static const char *const costly[] = { "^(a+)+$x|^(a+)+b", "^(?:a?){40}a{1990}b", "(a*)*(a*)*(a*)*b" };
    for (size_t i = 0; i < sizeof(costly) / sizeof(costly[0]); i++) {
        enum csni_match first = match(costly[i], name);
        /* PCRE2 sees at once that some cannot match; none may take long. */
        assert_true(first == CSNI_MATCH_COSTLY || first == CSNI_MATCH_NO);
        assert_int_equal(match(costly[i], name), first);
    }
    assert_int_equal(match("^(a|aa)+$", long_name), CSNI_MATCH_COSTLY);
}

/* More than the table holds. */
static void many_expressions(void **state) {
    (void)state;
    skip_without_engine();
    static char text[5000][16];
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 5000; i++) {
            text[i][0] = 'a';
            text[i][1] = '.';
            for (unsigned k = 0, v = i; k < 4; k++, v /= 10) text[i][2 + k] = (char)('0' + v % 10);
            assert_int_equal(match(text[i], "a_0000"), i ? CSNI_MATCH_NO : CSNI_MATCH_YES);
        }
}

static int setup(void **state) {
    (void)state;
    csni_patterns_init(&patterns, &csni_libc_allocator);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    csni_patterns_deinit(&patterns);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_names),     cmocka_unit_test(selectors),          cmocka_unit_test(expressions),
        cmocka_unit_test(bad_expressions), cmocka_unit_test(costly_expressions), cmocka_unit_test(many_expressions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
