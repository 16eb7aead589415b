/* model/rename.c by way of a conversion: other names for functions and inlined calls, answers that are none, and every
 * allocation failing once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/names.h>

#include "support/test_alloc.h"

static const char text[] =
    "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo\n"
    "FILE 0 /s/same\n"
    "INLINE_ORIGIN 0 callee\n"
    "FUNC 1000 20 0 same\n"
    "INLINE 0 11 0 0 1008 8\n"
    "1000 20 10 0\n"
    "FUNC 1020 20 0 other\n"
    "PUBLIC 1040 0 last\n";

enum { LONG = 9000 };

struct answers {
    csn_status status;
    size_t len;       /* what is told of the length */
    const char *name; /* NULL: LONG times x, then the name */
};

static csn_status answer(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    const struct answers *a = context;
    if (a->status != CSN_OK) {
        *out_len = a->len;
        return a->status;
    }
    size_t len = a->name ? a->len : LONG + name.len;
    *out_len = len;
    if (len >= cap) return CSN_E_LIMIT;
    if (a->name) {
        memcpy(out, a->name, len);
    } else {
        memset(out, 'x', LONG);
        memcpy(out + LONG, name.ptr, name.len);
    }
    return CSN_OK;
}

static csn_status convert(csn_name_callback *rename, const void *context, const struct csn_allocator *alloc,
                          struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 1;
    options.allocator = alloc;
    options.rename = rename;
    options.rename_context = (void *)(uintptr_t)context;
    return csn_convert_memory(text, strlen(text), &options, out, NULL, NULL);
}

/* The frames at 0x1008: the inlined call, then the function; a path of the same text as a name stays as it is. */
static void expect_names(const struct answers *answers, size_t len, const char *inlined, const char *function) {
    struct csn_bytes out;
    struct csn_index *index;
    struct csn_frame frames[2];
    size_t count = 0;
    assert_int_equal(convert(answer, answers, NULL, &out), CSN_OK);
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_lookup(index, 0x1008, frames, 2, &count, NULL), CSN_OK);
    assert_int_equal(count, 2);
    const char *want[] = { inlined, function };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(frames[i].name.len, len + strlen(want[i]));
        assert_memory_equal(frames[i].name.ptr + len, want[i], strlen(want[i]));
        assert_int_equal(frames[i].base.len, strlen("same"));
        assert_memory_equal(frames[i].base.ptr, "same", strlen("same"));
    }
    csn_index_close(index);
    csn_bytes_free(&out);
}

static void names_change(void **state) {
    (void)state;
    expect_names(&(struct answers){ CSN_OK, 0, NULL }, LONG, "callee", "same");
    expect_names(&(struct answers){ CSN_OK, 3, "one" }, 0, "one", "one"); /* several names may become one */
}

static void names_stay(void **state) {
    (void)state;
    expect_names(&(struct answers){ CSN_NONE, 0, NULL }, 0, "callee", "same");
    expect_names(&(struct answers){ CSN_E_FORMAT, 0, NULL }, 0, "callee", "same");
    expect_names(&(struct answers){ CSN_OK, 0, "" }, 0, "callee", "same");
    expect_names(&(struct answers){ CSN_OK, 3, "a\0b" }, 0, "callee", "same");
    /* Room that is not needed, more than there can be, and more each time. */
    expect_names(&(struct answers){ CSN_E_LIMIT, 1, NULL }, 0, "callee", "same");
    expect_names(&(struct answers){ CSN_E_LIMIT, SIZE_MAX, NULL }, 0, "callee", "same");
    expect_names(&(struct answers){ CSN_E_LIMIT, 100000, NULL }, 0, "callee", "same");
}

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    struct csn_bytes out = { NULL, 0, NULL };
    csn_status status = convert(answer, context, alloc, &out);
    csn_bytes_free(&out);
    return status;
}

static csn_status shorten_step(void *context, const struct csn_allocator *alloc) {
    struct csn_bytes out = { NULL, 0, NULL };
    csn_status status = convert(csn_rename_short, context, alloc, &out);
    csn_bytes_free(&out);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    struct answers long_names = { CSN_OK, 0, NULL };
    for (int then_all = 0; then_all < 2; then_all++) {
        /* The room for answers once and larger, and the names. */
        uint64_t without = test_allocator_sweep(shorten_step, NULL, then_all);
        assert_true(without > 20);
        assert_true(test_allocator_sweep(convert_step, &long_names, then_all) > without);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_change),
        cmocka_unit_test(names_stay),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
