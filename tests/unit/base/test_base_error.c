/* base/core/error.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/base.h>

#include "base/core/fail.h"
#include "base/core/format.h"

static void text_and_fields(void **state) {
    (void)state;
    struct csn_error err = CSN_ERROR_INIT;
    err.os_error = 77;
    assert_int_equal(csni_fail(&err, CSN_E_FORMAT, ".debug_line", 0x1f4, "opcode_base %d, need >= 1", 0), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&err), ".debug_line+0x1f4: opcode_base 0, need >= 1");
    assert_int_equal(err.code, CSN_E_FORMAT);
    assert_int_equal(err.os_error, 0);
    assert_int_equal(err.offset, 0x1f4);
    assert_string_equal(err.section, ".debug_line");

    assert_int_equal(csni_fail(&err, CSN_E_LIMIT, NULL, UINT64_MAX, "%s", "too much"), CSN_E_LIMIT);
    assert_string_equal(err.text, "too much");
    assert_true(err.offset == UINT64_MAX);
    assert_string_equal(err.section, "");
    csni_fail(&err, CSN_E_LIMIT, "x", UINT64_MAX, "far");
    assert_string_equal(err.text, "x+0xffffffffffffffff: far");
}

/* One text by both: what fits, and the length. */
#define SAME(...) do {                                                          \
        char want[64] = "", got[64], whole[64];                                 \
        int len = snprintf(want, sizeof want, __VA_ARGS__);                     \
        assert_int_equal(csni_format(got, sizeof got, __VA_ARGS__), len);       \
        assert_string_equal(got, want);                                         \
        for (size_t cap = 1; cap < 12; cap++) {                                 \
            memcpy(whole, want, sizeof whole);                                  \
            whole[cap - 1] = 0;                                                 \
            memset(got, '#', sizeof got);                                       \
            assert_int_equal(csni_format(got, cap, __VA_ARGS__), len);          \
            assert_string_equal(got, whole);                                    \
            assert_int_equal(got[cap], '#');                                    \
        }                                                                       \
    } while (0)

/* Errors are written without stdio, as snprintf() would. */
static void formats_as_snprintf(void **state) {
    (void)state;
    SAME("%%");
    SAME("%d %d %d %i", 0, -1, INT32_MIN, INT32_MAX);
    SAME("%u|%u|%x|%x", 0u, UINT32_MAX, 0u, UINT32_MAX);
    SAME("%llu %llx", (unsigned long long)UINT64_MAX, (unsigned long long)UINT64_MAX);
    SAME("%lld %lld", (long long)INT64_MIN, (long long)INT64_MAX);
    SAME("%zu %zx %lu %lx %ld", SIZE_MAX, SIZE_MAX, 5ul, 255ul, -5l);
    SAME("%02x%02x %04x %08d|%5u|%3d", 7u, 0xabu, 0x12345u, -77, 42u, -1);
    SAME("%s-%.3s-%.*s-%5s|%c", "text", "longer", 2, "cut", "x", '!');
    SAME("%.0s%.64s", "nothing", "name");
    assert_int_equal(csni_format(NULL, 0, "%d", 1234), 4);
}

static void null_is_fine(void **state) {
    (void)state;
    assert_int_equal(csni_fail(NULL, CSN_E_FORMAT, "s", 1, "%d", 1), CSN_E_FORMAT);
    assert_int_equal(csni_fail_os(NULL, ENOENT, "open"), CSN_E_IO);
    assert_int_equal(csni_fail_memory(NULL, 1), CSN_E_MEMORY);
    assert_non_null(csn_error_text(NULL));
    csn_error_init(NULL);
}

static void long_texts_are_cut(void **state) {
    (void)state;
    struct csn_error err;
    char text[1000];
    for (size_t len = CSN_ERROR_TEXT_SIZE - 8; len < CSN_ERROR_TEXT_SIZE + 8; len++) {
        memset(text, 'x', len);
        text[len] = 0;
        memset(&err, 0x55, sizeof err);
        csni_fail(&err, CSN_E_FORMAT, NULL, 0, "%s", text);
        if (len < CSN_ERROR_TEXT_SIZE) {
            assert_string_equal(err.text, text);
        } else {
            assert_int_equal(strlen(err.text), CSN_ERROR_TEXT_SIZE - 1);
            assert_string_equal(err.text + CSN_ERROR_TEXT_SIZE - 5, "x...");
        }
    }
    /* not within a UTF-8 sequence, wherever that falls */
    for (size_t lead = 0; lead < 3; lead++) {
        size_t len = lead;
        memset(text, 'x', lead);
        while (len < 500) {
            memcpy(text + len, "\xe2\x82\xac", 3);
            len += 3;
        }
        text[len] = 0;
        csni_fail(&err, CSN_E_FORMAT, NULL, 0, "%s", text);
        size_t kept = strlen(err.text) - 3;
        assert_true(kept > CSN_ERROR_TEXT_SIZE - 10);
        assert_int_equal((kept - lead) % 3, 0);
        assert_string_equal(err.text + kept, "...");
    }
}

static void section_names_of_any_length(void **state) {
    (void)state;
    struct csn_error err;
    char name[600];
    memset(name, 's', sizeof name - 1);
    name[sizeof name - 1] = 0;
    csni_fail(&err, CSN_E_FORMAT, name, 16, "what");
    assert_int_equal(strlen(err.section), sizeof err.section - 1);
    assert_string_equal(err.text + 64, "+0x10: what");
    /* 23 bytes fit */
    name[sizeof err.section - 1] = 0;
    csni_fail(&err, CSN_E_FORMAT, name, 16, "what");
    assert_string_equal(err.section, name);
}

static void one_line_whatever_the_names(void **state) {
    (void)state;
    struct csn_error err;
    csni_fail(&err, CSN_E_FORMAT, ".de\nbug", 0, "name \"a\x1b[31m\r\n\tb\x7f\"");
    assert_string_equal(err.text, ".de?bug+0x0: name \"a?[31m???b?\"");
}

static void wrapping_its_own_text(void **state) {
    (void)state;
    struct csn_error err;
    csni_fail(&err, CSN_E_FORMAT, ".debug_info", 0x10, "bad form");
    csni_fail(&err, err.code, NULL, 0, "unit 3: %s (%s)", err.text, err.section);
    assert_string_equal(err.text, "unit 3: .debug_info+0x10: bad form (.debug_info)");
}

static void system_errors(void **state) {
    (void)state;
    struct csn_error err;
    assert_int_equal(csni_fail_os(&err, ENOENT, "open"), CSN_E_IO);
    assert_string_equal(err.text, "open: No such file or directory");
    assert_int_equal(err.code, CSN_E_IO);
    assert_int_equal(err.os_error, ENOENT);
    csni_fail_os(&err, ENOSPC, NULL);
    assert_string_equal(err.text, "No space left on device");
    csni_fail_os(&err, 98765, "x");
    assert_int_equal(err.os_error, 98765);
    assert_true(strstr(err.text, "98765") || strstr(err.text, "No error information")); /* the second is musl's */

    char what[5000];
    for (size_t len = 150; len < 1000; len++) {
        memset(what, 'd', len);
        memcpy(what, "write to /", 10);
        memcpy(what + len - 7, "/x.gsym", 8);
        csni_fail_os(&err, ENOSPC, what);
        assert_true(strlen(err.text) < CSN_ERROR_TEXT_SIZE);
        assert_non_null(strstr(err.text, "d/x.gsym: No space left on device"));
        assert_memory_equal(err.text, "write to /d", 11);
    }
    assert_int_equal(strlen(err.text), CSN_ERROR_TEXT_SIZE - 1);
}

static void memory(void **state) {
    (void)state;
    struct csn_error err;
    assert_int_equal(csni_fail_memory(&err, 123), CSN_E_MEMORY);
    assert_string_equal(err.text, "out of memory: 123 bytes");
    assert_int_equal(err.code, CSN_E_MEMORY);
}

static void names_and_version(void **state) {
    (void)state;
    struct csn_error err = CSN_ERROR_INIT;
    assert_string_equal(csn_error_text(&err), "ok");
    err.code = CSN_E_MEMORY;
    assert_string_equal(csn_error_text(&err), "out of memory");
    for (int a = CSN_E_CANCELLED; a <= CSN_NONE; a++) {
        assert_string_not_equal(csn_status_name(a), csn_status_name(99));
        for (int b = a + 1; b <= CSN_NONE; b++) assert_string_not_equal(csn_status_name(a), csn_status_name(b));
    }
    assert_string_equal(csn_status_name(INT32_MIN), csn_status_name(99));
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", CSN_VERSION_MAJOR, CSN_VERSION_MINOR, CSN_VERSION_PATCH);
    assert_string_equal(csn_version(), version);
}

/* The public struct is frozen. */
static void frozen_size(void **state) {
    (void)state;
    assert_int_equal(sizeof(struct csn_error), 272);
    assert_int_equal(offsetof(struct csn_error, text), 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_fields),
        cmocka_unit_test(formats_as_snprintf),
        cmocka_unit_test(null_is_fine),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(section_names_of_any_length),
        cmocka_unit_test(one_line_whatever_the_names),
        cmocka_unit_test(wrapping_its_own_text),
        cmocka_unit_test(system_errors),
        cmocka_unit_test(memory),
        cmocka_unit_test(names_and_version),
        cmocka_unit_test(frozen_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
