/* csn_demangle: languages, buffers, names made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/names.h>

static struct csn_str str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

static void expect(const char *mangled, const char *plain) {
    char out[512];
    size_t len = 0;
    assert_int_equal(csn_demangle(str(mangled), out, sizeof(out), &len, NULL), CSN_OK);
    assert_string_equal(out, plain);
    assert_int_equal(len, strlen(plain));
}

static void test_languages(void **state) {
    (void)state;
    expect("_Z1fv", "f()");
    expect("_ZNK3foo3barIiE3bazERKS_", "foo::bar<int>::baz(foo const&) const");
    expect("_ZN3foo3barEv.part.0", "foo::bar() (.part.0)");
    expect("_ZN3foo3barEv.constprop.0.cold", "foo::bar() (.constprop.0.cold)");
    expect("__Z1fv", "f()");
    expect("._Z1fv", ".f()");
    expect("._ZN4core3fmt9Formatter3new17h0123456789abcdefE", ".core::fmt::Formatter::new");
    expect("__imp__Z1fv", "import thunk for f()");
    expect("__imp__ZN4core3fmt9Formatter3new17h0123456789abcdefE", "import thunk for core::fmt::Formatter::new");
    expect("__imp__RNvC6_123foo3bar", "import thunk for 123foo::bar");
    expect("__imp___Z1fv", "import thunk for f()");
    expect("_Znwm@@GLIBCXX_3.4", "operator new(unsigned long)@@GLIBCXX_3.4");
    expect("_ZN4core3fmt9Formatter3new17h0123456789abcdefE", "core::fmt::Formatter::new");
    expect("_RNvC6_123foo3bar", "123foo::bar");
    expect("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
    expect("_D8demangle4testFaZv", "demangle.test(char)");
    expect("_Dmain", "D main");
}

static void test_plain_names(void **state) {
    (void)state;
    static const char *const names[] = { "", "_", "_Z", "main", "_start", "Z1fv", "_Zzz", "_ZN", "_R", "_RNvC", "_Destroy",
                                         "_DT_INIT", "__Zero", "_Z1fv\x01", "f()", "_ZN3foo" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char out[64];
        size_t len = 77;
        assert_int_equal(csn_demangle(str(names[i]), out, sizeof(out), &len, NULL), CSN_NONE);
        assert_int_equal(len, 77);
    }
}

static void test_name_is_not_terminated(void **state) {
    (void)state;
    char out[64];
    size_t len;
    assert_int_equal(csn_demangle((struct csn_str){ "_Z1fvii", 5 }, out, sizeof(out), &len, NULL), CSN_OK);
    assert_string_equal(out, "f()");
    assert_int_equal(csn_demangle((struct csn_str){ "_Z1f\0v", 6 }, out, sizeof(out), &len, NULL), CSN_NONE);
}

static void test_capacity(void **state) {
    (void)state;
    char out[8];
    for (size_t cap = 0; cap < sizeof(out); cap++) {
        size_t len = 0;
        struct csn_error err = CSN_ERROR_INIT;
        memset(out, '#', sizeof(out));
        csn_status status = csn_demangle(str("_Z1fi"), cap ? out : NULL, cap, &len, &err);
        assert_int_equal(status, cap > 6 ? CSN_OK : CSN_E_LIMIT);
        assert_int_equal(len, 6);
        if (cap) assert_int_equal(out[cap < 7 ? cap - 1 : 6], 0);
        assert_int_equal(out[cap], '#');
        if (cap <= 6) assert_int_equal(err.code, CSN_E_LIMIT);
    }
}

/* Names of every length around the buffer on the stack, and far past it. */
static void test_long_names(void **state) {
    (void)state;
    static char name[2 * (1 << 20)], out[1 << 20];
    for (size_t size = 900; size < 1100; size++) {
        int used = snprintf(name, sizeof(name), "_RNvC1a%zu", size);
        memset(name + used, 'x', size);
        size_t len = 0;
        const struct csn_str given = { name, (size_t)used + size };
        assert_int_equal(csn_demangle(given, out, sizeof(out), &len, NULL), CSN_OK);
        assert_int_equal(len, size + 3);
    }
    /* Boost makes names of this length. */
    size_t used = (size_t)snprintf(name, sizeof(name), "_Z1f"), long_len;
    for (int i = 0; i < 500; i++) used += (size_t)snprintf(name + used, sizeof(name) - used, "3abc");
    assert_int_equal(csn_demangle((struct csn_str){ name, used }, out, sizeof(out), &long_len, NULL), CSN_OK);
    assert_int_equal(long_len, strlen("f()") + 500 * strlen("abc, ") - strlen(", "));

    /* Modules within modules, with the end of the name looked for once. */
    memcpy(name, "caml", 4);
    for (used = 4; used < sizeof(out) - 4; used += 4) memcpy(name + used, "Ab__", 4);
    name[used - 4] = 'x';
    assert_int_equal(csn_demangle((struct csn_str){ name, used - 2 }, out, sizeof(out), &long_len, NULL), CSN_OK);
    assert_int_equal(long_len, 3 * (used - 4) / 4 - 1);

    memcpy(name, "_Z", 2);
    memset(name + 2, 'P', sizeof(name) - 2);
    for (size_t size = 3; size <= sizeof(name); size *= 2) {
        size_t len;
        assert_int_equal(csn_demangle((struct csn_str){ name, size }, out, sizeof(out), &len, NULL), CSN_NONE);
    }
    name[1] = 'D';
    memcpy(name + 2, "1aF", 3);
    for (size_t size = 8; size <= sizeof(name); size *= 2) {
        size_t len;
        assert_int_equal(csn_demangle((struct csn_str){ name, size }, out, sizeof(out), &len, NULL), CSN_NONE);
    }
}

static void test_flags(void **state) {
    (void)state;
    struct csn_error err = CSN_ERROR_INIT;
    char out[64];
    size_t len = 7;
    assert_int_equal(csn_demangle_with(str("_Z1fi"), 6, out, sizeof(out), &len, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&err), "csn_demangle_with: unknown flags 0x6");
    assert_int_equal(len, 7);
}

/* Each type is a pair of the one before: the text doubles with every step. */
static size_t exploding_cpp(char *name, size_t capacity, int steps) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t used = (size_t)snprintf(name, capacity, "_Z1f1AIiiE");
    for (int step = 0; step < steps; step++)
        used += (size_t)snprintf(name + used, capacity - used, "S_IS%c_S%c_E", digits[step], digits[step]);
    return used;
}

static size_t exploding_d(char *name, size_t capacity, int steps) {
    size_t used = (size_t)snprintf(name, capacity, "_D1aFi");
    for (int step = 0; step < steps; step++)
        used += (size_t)snprintf(name + used, capacity - used, step ? "HQgQi" : "HQcQe");
    return used + (size_t)snprintf(name + used, capacity - used, "Zv");
}

static void test_exploding_names(void **state) {
    (void)state;
    static char out[1 << 16];
    char name[512];
    size_t len = 0;
    struct csn_str cpp = { name, exploding_cpp(name, sizeof(name), 10) };
    assert_int_equal(csn_demangle(cpp, out, sizeof(out), &len, NULL), CSN_OK);
    assert_int_equal(len, 32720);
    cpp.len = exploding_cpp(name, sizeof(name), 14);
    assert_int_equal(csn_demangle(cpp, out, sizeof(out), &len, NULL), CSN_E_LIMIT);
    assert_int_equal(len, 524228);
    cpp.len = exploding_cpp(name, sizeof(name), 35);
    assert_int_equal(csn_demangle(cpp, out, sizeof(out), &len, NULL), CSN_NONE);

    struct csn_str d = { name, exploding_d(name, sizeof(name), 8) };
    assert_int_equal(csn_demangle(d, out, sizeof(out), &len, NULL), CSN_OK);
    assert_int_equal(len, 2556);
    d.len = exploding_d(name, sizeof(name), 60);
    assert_int_equal(csn_demangle(d, out, sizeof(out), &len, NULL), CSN_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),       cmocka_unit_test(test_plain_names),
        cmocka_unit_test(test_name_is_not_terminated), cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_long_names),      cmocka_unit_test(test_flags), cmocka_unit_test(test_exploding_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
