/* base/core/cursor.h and base/core/endian.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/cursor.h"

#define SPAN(array) ((struct csni_span){ array, sizeof array })

static void fixed_widths_in_both_orders(void **state) {
    (void)state;
    /* One byte in, so that nothing is aligned. */
    static const uint8_t bytes[] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0xf9, 10, 11, 12, 13, 14, 15 };
    struct csni_cursor little = csni_cursor_at(SPAN(bytes), false), big = csni_cursor_at(SPAN(bytes), true);
    assert_int_equal(csni_cursor_u8(&little), 0xff);
    assert_int_equal(csni_cursor_u8(&big), 0xff);
    assert_int_equal(csni_cursor_u16(&little), 0x0201);
    assert_int_equal(csni_cursor_u16(&big), 0x0102);
    assert_int_equal(csni_cursor_u32(&little), 0x06050403);
    assert_int_equal(csni_cursor_u32(&big), 0x03040506);
    assert_true(csni_cursor_u64(&little) == 0x0e0d0c0b0af90807u);
    assert_true(csni_cursor_u64(&big) == 0x0708f90a0b0c0d0eu);
    assert_int_equal(csni_cursor_left(&little), 1);
    assert_int_equal(csni_cursor_off(&little), 15);
    assert_false(little.failed || big.failed);
}

static void sized_integers(void **state) {
    (void)state;
    static const uint8_t bytes[] = { 0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8 };
    static const uint64_t little[] = { 0x81, 0x9281, 0xa39281, 0xb4a39281, 0xc5b4a39281, 0xd6c5b4a39281,
                                       0xe7d6c5b4a39281, 0xf8e7d6c5b4a39281 };
    static const uint64_t big[] = { 0x81, 0x8192, 0x8192a3, 0x8192a3b4, 0x8192a3b4c5, 0x8192a3b4c5d6,
                                    0x8192a3b4c5d6e7, 0x8192a3b4c5d6e7f8 };
    for (unsigned size = 1; size <= 8; size++) {
        struct csni_cursor c = csni_cursor_at(SPAN(bytes), false);
        assert_true(csni_cursor_uint(&c, size) == little[size - 1]);
        assert_int_equal(csni_cursor_off(&c), size);
        c = csni_cursor_at(SPAN(bytes), true);
        assert_true(csni_cursor_uint(&c, size) == big[size - 1]);

        for (int order = 0; order < 2; order++) {
            uint8_t out[9];
            memset(out, 0x55, sizeof out);
            csni_put_sized(out, (order ? big : little)[size - 1], size, order);
            assert_memory_equal(out, bytes, size);
            assert_int_equal(out[size], 0x55);
        }
    }
}

static void fixed_writes_read_back(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        uint8_t out[9] = { 0 };
        csni_put16(out + 1, 0x1234, big);
        assert_int_equal(out[1], big ? 0x12 : 0x34);
        assert_int_equal(csni_get16(out + 1, big), 0x1234);
        csni_put32(out + 1, 0x12345678, big);
        assert_int_equal(out[1], big ? 0x12 : 0x78);
        assert_int_equal(csni_get32(out + 1, big), 0x12345678);
        csni_put64(out + 1, 0x123456789abcdef0u, big);
        assert_int_equal(out[1], big ? 0x12 : 0xf0);
        assert_true(csni_get64(out + 1, big) == 0x123456789abcdef0u);
        assert_int_equal(out[0], 0);
    }
}

struct leb_case {
    const char *bytes;
    size_t size;
    uint64_t value;
};
#define LEB(text, value) { text, sizeof text - 1, value }

static void check_leb(const struct leb_case *cases, size_t count, bool is_signed) {
    for (size_t i = 0; i < count; i++) {
        /* A byte follows, which must stay unread. */
        uint8_t bytes[32];
        memcpy(bytes, cases[i].bytes, cases[i].size);
        bytes[cases[i].size] = 0x2a;
        struct csni_cursor c = csni_cursor_at((struct csni_span){ bytes, cases[i].size + 1 }, false);
        uint64_t value = is_signed ? (uint64_t)csni_cursor_sleb(&c) : csni_cursor_uleb(&c);
        if (value != cases[i].value)
            fail_msg("case %zu: %#llx, expected %#llx", i, (unsigned long long)value,
                     (unsigned long long)cases[i].value);
        assert_false(c.failed);
        assert_int_equal(csni_cursor_off(&c), cases[i].size);

        for (size_t cut = 0; cut < cases[i].size; cut++) {
            c = csni_cursor_at((struct csni_span){ bytes, cut }, false);
            assert_true((is_signed ? (uint64_t)csni_cursor_sleb(&c) : csni_cursor_uleb(&c)) == 0);
            assert_true(c.failed);
            assert_int_equal(c.failed_at, 0);
            assert_int_equal(csni_cursor_left(&c), 0);
        }
    }
}

static void unsigned_leb(void **state) {
    (void)state;
    static const struct leb_case cases[] = {
        LEB("\x00", 0), LEB("\x01", 1), LEB("\x7f", 127), LEB("\x80\x01", 128), LEB("\xff\x7f", 16383),
        LEB("\xe5\x8e\x26", 624485),
        LEB("\xff\xff\xff\xff\x0f", UINT32_MAX),
        LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", (uint64_t)1 << 63),
        LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", UINT64_MAX),
        /* padded by producers that patch a number in later */
        LEB("\x80\x00", 0), LEB("\x85\x80\x80\x80\x00", 5),
        LEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1),
        LEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1),
        /* bits beyond 64 are lost */
        LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", UINT64_MAX),
        LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 0),
        LEB("\x82\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 2),
    };
    check_leb(cases, sizeof cases / sizeof *cases, false);
}

static void signed_leb(void **state) {
    (void)state;
    static const struct leb_case cases[] = {
        LEB("\x00", 0), LEB("\x01", 1), LEB("\x3f", 63), LEB("\x40", (uint64_t)-64), LEB("\x7f", (uint64_t)-1),
        LEB("\xc0\x00", 64), LEB("\xbf\x7f", (uint64_t)-65), LEB("\x80\x01", 128), LEB("\x80\x7f", (uint64_t)-128),
        LEB("\x9b\xf1\x59", (uint64_t)-624485),
        LEB("\xff\xff\xff\xff\x07", INT32_MAX), LEB("\x80\x80\x80\x80\x78", (uint64_t)INT32_MIN),
        LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", INT64_MAX),
        LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", (uint64_t)INT64_MIN),
        /* the last bit that sign extension reaches */
        LEB("\x80\x80\x80\x80\x80\x80\x80\x80\x40", (uint64_t)-1 << 62),
        /* padded */
        LEB("\x80\x00", 0), LEB("\xff\x7f", (uint64_t)-1), LEB("\xff\x00", 127),
        LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", (uint64_t)-1),
        LEB("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", (uint64_t)-1),
        LEB("\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 1),
    };
    check_leb(cases, sizeof cases / sizeof *cases, true);
}

static void strings(void **state) {
    (void)state;
    static const uint8_t bytes[] = { 'a', 'b', 0, 0, 'c', 'd' };
    struct csni_cursor c = csni_cursor_at(SPAN(bytes), false);
    assert_true(csni_str_is(csni_cursor_cstr(&c), "ab"));
    assert_true(csni_str_is(csni_cursor_cstr(&c), ""));
    assert_int_equal(csni_cursor_off(&c), 4);
    struct csn_str s = csni_cursor_cstr(&c);
    assert_int_equal(s.len, 0);
    assert_non_null(s.ptr);
    assert_true(c.failed);
    assert_int_equal(c.failed_at, 4);
}

static void skip_seek_and_bytes(void **state) {
    (void)state;
    static const uint8_t bytes[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    struct csni_cursor c = csni_cursor_at(SPAN(bytes), false);
    csni_cursor_skip(&c, 3);
    struct csni_span s = csni_cursor_bytes(&c, 2);
    assert_ptr_equal(s.ptr, bytes + 3);
    assert_int_equal(s.size, 2);
    csni_cursor_seek(&c, 1);
    assert_int_equal(csni_cursor_u8(&c), 1);
    csni_cursor_seek(&c, 8); /* the end itself is a place to be */
    assert_false(c.failed);
    assert_int_equal(csni_cursor_left(&c), 0);
    csni_cursor_skip(&c, 0);
    assert_false(c.failed);

    csni_cursor_seek(&c, 4);
    csni_cursor_seek(&c, 9);
    assert_true(c.failed);
    assert_int_equal(c.failed_at, 4);
    csni_cursor_seek(&c, 0); /* no way back */
    assert_int_equal(csni_cursor_left(&c), 0);

    c = csni_cursor_at(SPAN(bytes), false);
    csni_cursor_skip(&c, 2);
    s = csni_cursor_bytes(&c, UINT64_MAX);
    assert_null(s.ptr);
    assert_int_equal(s.size, 0);
    assert_int_equal(c.failed_at, 2);
    c = csni_cursor_at(SPAN(bytes), false);
    csni_cursor_skip(&c, UINT64_MAX - 1);
    assert_true(c.failed);
}

static void a_failure_stays(void **state) {
    (void)state;
    static const uint8_t bytes[] = { 1, 2, 3, 0, 5 };
    struct csni_cursor c = csni_cursor_at(SPAN(bytes), false);
    assert_int_equal(csni_cursor_u16(&c), 0x0201);
    assert_int_equal(csni_cursor_u32(&c), 0); /* three bytes are left */
    assert_true(c.failed);
    assert_int_equal(c.failed_at, 2);
    assert_int_equal(csni_cursor_u8(&c), 0);
    assert_int_equal(csni_cursor_u16(&c), 0);
    assert_true(csni_cursor_u64(&c) == 0);
    assert_true(csni_cursor_uint(&c, 3) == 0);
    assert_true(csni_cursor_uleb(&c) == 0);
    assert_true(csni_cursor_sleb(&c) == 0);
    assert_int_equal(csni_cursor_cstr(&c).len, 0);
    assert_null(csni_cursor_bytes(&c, 1).ptr);
    csni_cursor_skip(&c, 1);
    assert_int_equal(c.failed_at, 2);
}

static void nothing_to_read(void **state) {
    (void)state;
    struct csni_cursor c = csni_cursor_at((struct csni_span){ NULL, 0 }, true);
    csni_cursor_skip(&c, 0);
    csni_cursor_seek(&c, 0);
    assert_int_equal(csni_cursor_bytes(&c, 0).size, 0);
    assert_int_equal(csni_cursor_left(&c), 0);
    assert_false(c.failed);
    assert_int_equal(csni_cursor_cstr(&c).len, 0);
    assert_true(c.failed);
    assert_int_equal(c.failed_at, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_widths_in_both_orders),
        cmocka_unit_test(sized_integers),
        cmocka_unit_test(fixed_writes_read_back),
        cmocka_unit_test(unsigned_leb),
        cmocka_unit_test(signed_leb),
        cmocka_unit_test(strings),
        cmocka_unit_test(skip_seek_and_bytes),
        cmocka_unit_test(a_failure_stays),
        cmocka_unit_test(nothing_to_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
