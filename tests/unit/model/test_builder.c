/* callsign/builder.h: what each call refuses and how it says so; what is saved; running out of memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/builder.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/span.h"
#include "support/test_alloc.h"

static struct csn_builder *create(const struct csn_allocator *alloc) {
    struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
    struct csn_builder *b = NULL;
    options.allocator = alloc;
    assert_int_equal(csn_builder_create(&options, &b, NULL), CSN_OK);
    return b;
}

/* `call` must fail with `status` and `text`. `err` is the error that it was given. */
#define EXPECT(call, status, message)                 \
    do {                                              \
        struct csn_error err = CSN_ERROR_INIT;        \
        assert_int_equal(call, status);               \
        assert_string_equal(err.text, message);       \
        assert_int_equal(err.code, status);           \
    } while (0)
#define OK(call) assert_int_equal(call, CSN_OK)

static struct csn_str str(const char *text) { return csni_str(text); }

static csn_status inline_at(struct csn_builder *b, uint64_t start, uint64_t end, struct csn_error *err) {
    struct csn_range range = { start, end };
    return csn_builder_begin_inline(b, &range, 1, str("inlined"), 0, 1, err);
}

/* ---- refusals ---- */

static void options_are_checked(void **state) {
    (void)state;
    struct csn_builder *b = NULL;
    static const uint8_t uuid[21] = { 1 };
    struct csn_builder_options o = CSN_BUILDER_OPTIONS_INIT;
    o.uuid = uuid;
    o.uuid_size = 21;
    EXPECT(csn_builder_create(&o, &b, &err), CSN_E_LIMIT, "the build id has 21 bytes, GSYM version 1 holds 20");
    o.format = 99;
    EXPECT(csn_builder_create(&o, &b, &err), CSN_E_UNSUPPORTED, "output format 99 is not known");
    o.format = 0;
    o.uuid = NULL;
    o.uuid_size = 3;
    EXPECT(csn_builder_create(&o, &b, &err), CSN_E_ARGUMENT, "uuid_size is 3, uuid is NULL");
    o = (struct csn_builder_options)CSN_BUILDER_OPTIONS_INIT;
    o.struct_size = 2;
    char message[100];
    snprintf(message, sizeof message, "struct_size is 2, need at least %zu", sizeof o.struct_size);
    EXPECT(csn_builder_create(&o, &b, &err), CSN_E_ARGUMENT, message);
    struct { struct csn_builder_options known; uint8_t more[4]; } newer = { CSN_BUILDER_OPTIONS_INIT, { 0, 0, 1, 0 } };
    newer.known.struct_size = sizeof newer.known + 4;
    snprintf(message, sizeof message, "byte %zu of the options is set, this version knows %zu", sizeof newer.known + 2,
             sizeof newer.known);
    EXPECT(csn_builder_create(&newer.known, &b, &err), CSN_E_UNSUPPORTED, message);
    assert_null(b);
    newer.more[2] = 0;
    OK(csn_builder_create(&newer.known, &b, NULL));
    csn_builder_destroy(b);
    OK(csn_builder_create(NULL, &b, NULL));
    csn_builder_destroy(b);
    csn_builder_destroy(NULL);
}

/* Below its base address an index has no place for a function. */
static void functions_below_the_base(void **state) {
    (void)state;
    static const uint32_t formats[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2, CSN_FORMAT_GSYM_SECTION, CSN_FORMAT_BSYM,
                                        CSN_FORMAT_BREAKPAD };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct csn_builder *b;
        struct csn_bytes out;
        struct csn_builder_options o = CSN_BUILDER_OPTIONS_INIT;
        o.format = formats[i];
        o.base_address = 0x1000;
        OK(csn_builder_create(&o, &b, NULL)); /* not said to be given */
        OK(csn_builder_begin_function(b, 0x100, 16, str("low"), NULL));
        csn_builder_destroy(b);
        o.has_base_address = 1;
        OK(csn_builder_create(&o, &b, NULL));
        EXPECT(csn_builder_begin_function(b, 0xfff, 16, str("low"), &err), CSN_E_ARGUMENT,
               "the function at 0xfff is below the base address 0x1000");
        EXPECT(csn_builder_add_row(b, 0xfff, 0, 1, &err), CSN_E_ARGUMENT, "begin a function first");
        OK(csn_builder_begin_function(b, 0x1000, 16, str("first"), NULL));
        OK(csn_builder_begin_function(b, 0x2000, 16, str("second"), NULL));
        OK(csn_builder_save_memory(b, &out, NULL));
        csn_bytes_free(&out);
        csn_builder_destroy(b);
    }
}

/* A base far below: the table has offsets of 8 bytes. */
static void a_base_far_below(void **state) {
    (void)state;
    struct csn_builder *b;
    struct csn_bytes out;
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_frame frame;
    size_t count;
    struct csn_builder_options o = CSN_BUILDER_OPTIONS_INIT;
    o.base_address = 0x1000;
    o.has_base_address = 1;
    OK(csn_builder_create(&o, &b, NULL));
    OK(csn_builder_begin_function(b, UINT64_MAX - 0xff, 16, str("last"), NULL));
    OK(csn_builder_save_memory(b, &out, NULL));
    OK(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL));
    csn_index_get_info(index, &info, sizeof info);
    assert_true(info.base_address == 0x1000);
    assert_int_equal(info.address_size, 8);
    OK(csn_index_lookup(index, UINT64_MAX - 0xfe, &frame, 1, &count, NULL));
    assert_int_equal(frame.offset, 1);
    csn_index_close(index);
    csn_bytes_free(&out);
    csn_builder_destroy(b);
}

static void nothing_begun(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    struct csn_bytes out = { NULL, 0, NULL };
    EXPECT(csn_builder_add_row(b, 0, 0, 1, &err), CSN_E_ARGUMENT, "begin a function first");
    EXPECT(inline_at(b, 0, 1, &err), CSN_E_ARGUMENT, "begin a function first");
    EXPECT(csn_builder_end_inline(b, &err), CSN_E_ARGUMENT, "begin a function first");
    EXPECT(csn_builder_add_call_site(b, 1, 0, NULL, 0, &err), CSN_E_ARGUMENT, "begin a function first");
    EXPECT(csn_builder_save_memory(b, &out, &err), CSN_E_NOT_FOUND, "no functions found, nothing to write");
    assert_null(out.ptr);
    csn_builder_destroy(b);
}

static void functions(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    EXPECT(csn_builder_begin_function(b, 0x10, 8, str(""), &err), CSN_E_ARGUMENT, "the function at 0x10 has no name");
    EXPECT(csn_builder_begin_function(b, 0x10, 8, (struct csn_str){ "a\0b", 3 }, &err), CSN_E_ARGUMENT,
           "a string of 3 bytes has a NUL within");
    EXPECT(csn_builder_begin_function(b, 0x10, 0x100000000, str("f"), &err), CSN_E_LIMIT,
           "the function at 0x10 has 0x100000000 bytes, at most 0xffffffff are possible");
    EXPECT(csn_builder_begin_function(b, UINT64_MAX - 7, 8, str("f"), &err), CSN_E_LIMIT,
           "the function at 0xfffffffffffffff8 has 0x8 bytes, it would end past the last address");
    EXPECT(csn_builder_add_row(b, 0x10, 0, 1, &err), CSN_E_ARGUMENT, "begin a function first");
    OK(csn_builder_begin_function(b, 0x10, 8, str("f"), NULL));
    OK(inline_at(b, 0x10, 0x18, NULL));
    EXPECT(csn_builder_begin_function(b, 0x20, 8, str("g"), &err), CSN_E_ARGUMENT, "1 inlined calls are still open");
    csn_builder_destroy(b);
}

static void rows(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    uint32_t file = 0;
    EXPECT(csn_builder_add_file(b, str("/d"), (struct csn_str){ "\0", 1 }, &file, &err), CSN_E_ARGUMENT,
           "a string of 1 bytes has a NUL within");
    assert_int_equal(file, 0);
    OK(csn_builder_add_file(b, str("/d"), str("f"), &file, NULL));
    assert_int_equal(file, 1);
    OK(csn_builder_begin_function(b, 0x10, 8, str("f"), NULL));
    EXPECT(csn_builder_add_row(b, 0xf, 1, 1, &err), CSN_E_ARGUMENT, "row at 0xf, need one in [0x10, 0x18)");
    EXPECT(csn_builder_add_row(b, 0x18, 1, 1, &err), CSN_E_ARGUMENT, "row at 0x18, need one in [0x10, 0x18)");
    EXPECT(csn_builder_add_row(b, 0x10, 2, 1, &err), CSN_E_ARGUMENT, "file 2 does not exist, files 0 to 1 do");
    OK(csn_builder_add_row(b, 0x14, 1, 1, NULL));
    EXPECT(csn_builder_add_row(b, 0x13, 1, 1, &err), CSN_E_ARGUMENT, "row at 0x13, need one in [0x14, 0x18)");
    OK(csn_builder_add_row(b, 0x14, 0, UINT32_MAX, NULL));
    OK(csn_builder_begin_function(b, 0x10, 0, str("empty"), NULL));
    EXPECT(csn_builder_add_row(b, 0x10, 1, 1, &err), CSN_E_ARGUMENT, "row at 0x10, need one in [0x10, 0x10)");
    csn_builder_destroy(b);
}

static void inlined_calls(void **state) {
    (void)state;
    static const char outside[] = "the inlined range [0x%x, 0x%x) is not within its parent";
    static const struct csn_range bad[] = { { 0xf, 0x12 }, { 0x1f, 0x21 }, { 0x14, 0x14 }, { 0x16, 0x14 }, { 0, 0x12 } };
    struct csn_builder *b = create(NULL);
    char text[128];
    OK(csn_builder_begin_function(b, 0x10, 0x10, str("f"), NULL));
    EXPECT(csn_builder_end_inline(b, &err), CSN_E_ARGUMENT, "no inlined call is open");
    EXPECT(csn_builder_begin_inline(b, NULL, 0, str("x"), 0, 1, &err), CSN_E_ARGUMENT,
           "an inlined call needs at least one range");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, outside, (unsigned)bad[i].start, (unsigned)bad[i].end);
        EXPECT(csn_builder_begin_inline(b, &bad[i], 1, str("x"), 0, 1, &err), CSN_E_ARGUMENT, text);
    }
    static const struct csn_range good[] = { { 0x18, 0x1c }, { 0x10, 0x14 } };
    EXPECT(csn_builder_begin_inline(b, good, 2, str("x"), 1, 1, &err), CSN_E_ARGUMENT,
           "file 1 does not exist, files 0 to 0 do");
    EXPECT(csn_builder_begin_inline(b, good, 2, (struct csn_str){ "x\0", 2 }, 0, 1, &err), CSN_E_ARGUMENT,
           "a string of 2 bytes has a NUL within");
    OK(csn_builder_begin_inline(b, good, 2, str("x"), 0, 1, NULL));
    /* Within the function, but not within one range of the call that is open. */
    EXPECT(inline_at(b, 0x14, 0x18, &err), CSN_E_ARGUMENT,
           "the inlined range [0x14, 0x18) is not within its parent");
    EXPECT(inline_at(b, 0x12, 0x1a, &err), CSN_E_ARGUMENT,
           "the inlined range [0x12, 0x1a) is not within its parent");
    OK(inline_at(b, 0x18, 0x1c, NULL));
    OK(csn_builder_end_inline(b, NULL));
    OK(csn_builder_end_inline(b, NULL));
    EXPECT(csn_builder_end_inline(b, &err), CSN_E_ARGUMENT, "no inlined call is open");
    csn_builder_destroy(b);
}

static void deepest_nest(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    struct csn_bytes out;
    OK(csn_builder_begin_function(b, 0x10, 0x10, str("f"), NULL));
    for (int i = 1; i < CSN_INLINE_DEPTH_MAX; i++) OK(inline_at(b, 0x10, 0x14, NULL));
    EXPECT(inline_at(b, 0x10, 0x14, &err), CSN_E_LIMIT, "inlined calls nest deeper than 512");
    for (int i = 1; i < CSN_INLINE_DEPTH_MAX; i++) OK(csn_builder_end_inline(b, NULL));
    OK(csn_builder_save_memory(b, &out, NULL));
    struct csn_index *index;
    struct csn_verify_counts counts;
    OK(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL));
    OK(csn_index_verify(index, NULL, NULL, &counts, NULL));
    assert_int_equal(counts.problems, 0);
    assert_int_equal(counts.inline_nodes, CSN_INLINE_DEPTH_MAX - 1);
    csn_index_close(index);
    csn_bytes_free(&out);
    csn_builder_destroy(b);
}

/* A call site that is refused leaves nothing after. */
static void call_sites(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    struct csn_bytes out;
    static const struct csn_str patterns[] = { { "^a$", 3 }, { "b\0c", 3 } };
    OK(csn_builder_begin_function(b, 0x10, 0x10, str("f"), NULL));
    EXPECT(csn_builder_add_call_site(b, 1, 4, NULL, 0, &err), CSN_E_ARGUMENT, "unknown call-site flags 0x4");
    EXPECT(csn_builder_add_call_site(b, 1, 3, patterns, 2, &err), CSN_E_ARGUMENT, "a string of 3 bytes has a NUL within");
    OK(csn_builder_add_call_site(b, 2, 3, patterns, 1, NULL));
    OK(csn_builder_save_memory(b, &out, NULL));
    struct csn_index *index;
    struct csn_verify_counts counts;
    OK(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL));
    OK(csn_index_verify(index, NULL, NULL, &counts, NULL));
    assert_int_equal(counts.call_sites, 1);
    csn_index_close(index);
    csn_bytes_free(&out);
    csn_builder_destroy(b);
}

/* ---- a whole index ---- */

/* A few functions of everything, the `first`th one first. The first failure is returned. */
static csn_status fill(struct csn_builder *b, unsigned first) {
    uint32_t main_c, util_h;
    csn_status status = csn_builder_add_file(b, str("/src"), str("main.c"), &main_c, NULL);
    if (status >= 0) status = csn_builder_add_file(b, str("/src/include"), str("util.h"), &util_h, NULL);
    for (unsigned k = 0; k < 3 && status >= 0; k++) {
        unsigned i = (first + k) % 3;
        uint64_t start = 0x1000 + 0x100 * (uint64_t)i;
        static const char *const names[] = { "one", "two", "three" };
        struct csn_range ranges[] = { { start + 0x30, start + 0x38 }, { start + 0x10, start + 0x18 } };
        struct csn_str pattern = str("^two$");
        status = csn_builder_begin_function(b, start, 0x40, str(names[i]), NULL);
        for (unsigned r = 0; r < 12 && status >= 0; r++)
            status = csn_builder_add_row(b, start + 4 * r, r % 4 ? main_c : util_h, 10 * (i + 1) + r, NULL);
        if (status >= 0) status = csn_builder_begin_inline(b, ranges, 2, str("outer"), main_c, 5, NULL);
        if (status >= 0) status = csn_builder_begin_inline(b, ranges, 1, str("inner"), util_h, 6, NULL);
        if (status >= 0) status = csn_builder_end_inline(b, NULL);
        if (status >= 0) status = csn_builder_end_inline(b, NULL);
        if (status >= 0) status = csn_builder_add_call_site(b, 8, CSN_CALL_SITE_INTERNAL, &pattern, 1, NULL);
    }
    return status;
}

static void expect_frame(const struct csn_frame *f, const char *name, uint64_t offset, const char *base, uint32_t line) {
    assert_true(csni_str_is(f->name, name));
    assert_int_equal(f->offset, offset);
    assert_true(csni_str_is(f->base, base));
    assert_int_equal(f->line, line);
}

static void expect_answers(const struct csn_bytes *bytes) {
    struct csn_index *index;
    struct csn_verify_counts counts;
    struct csn_frame frames[4];
    size_t count;
    OK(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL));
    OK(csn_index_verify(index, NULL, NULL, &counts, NULL));
    assert_int_equal(counts.problems, 0);
    assert_int_equal(counts.functions, 3);
    OK(csn_index_lookup(index, 0x1132, frames, 4, &count, NULL));
    assert_int_equal(count, 3);
    expect_frame(&frames[0], "inner", 2, "main.c", 31);
    expect_frame(&frames[1], "outer", 0x22, "util.h", 6);
    expect_frame(&frames[2], "two", 0x32, "main.c", 5);
    OK(csn_index_lookup(index, 0x1214, frames, 4, &count, NULL));
    assert_int_equal(count, 2);
    expect_frame(&frames[0], "outer", 4, "main.c", 35);
    expect_frame(&frames[1], "three", 0x14, "main.c", 5);
    OK(csn_index_lookup(index, 0x1000, frames, 4, &count, NULL));
    assert_int_equal(count, 1);
    expect_frame(&frames[0], "one", 0, "util.h", 10);
    assert_int_equal(csn_index_lookup(index, 0x1040, frames, 4, &count, NULL), CSN_NONE);
    csn_index_close(index);
}

static struct csn_bytes built(unsigned first) {
    struct csn_builder *b = create(NULL);
    struct csn_bytes out;
    OK(fill(b, first));
    OK(csn_builder_save_memory(b, &out, NULL));
    csn_builder_destroy(b);
    return out;
}

static void any_order_of_functions(void **state) {
    (void)state;
    struct csn_bytes in_order = built(0);
    expect_answers(&in_order);
    for (unsigned first = 0; first < 3; first++) {
        struct csn_bytes out = built(first);
        assert_int_equal(out.size, in_order.size);
        assert_memory_equal(out.ptr, in_order.ptr, out.size);
        csn_bytes_free(&out);
    }
    csn_bytes_free(&in_order);
    csn_bytes_free(&in_order);
    csn_bytes_free(NULL);
}

static void options_reach_the_file(void **state) {
    (void)state;
    static const char uuid[] = "0123456789abcdefghij";
    for (uint8_t big = 0; big < 2; big++) {
        struct csn_builder_options o = CSN_BUILDER_OPTIONS_INIT;
        struct csn_builder *b;
        struct csn_bytes out;
        struct csn_index *index;
        struct csn_index_info info;
        o.uuid = (const uint8_t *)uuid;
        o.uuid_size = 20;
        o.base_address = 0x400;
        o.has_base_address = 1;
        o.big_endian = big;
        OK(csn_builder_create(&o, &b, NULL));
        OK(fill(b, 0));
        OK(csn_builder_save_memory(b, &out, NULL));
        expect_answers(&out);
        OK(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL));
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.base_address, 0x400);
        assert_int_equal(info.big_endian, big);
        assert_memory_equal(info.uuid, uuid, 20);
        assert_int_equal(info.uuid_size, 20);
        csn_index_close(index);
        csn_bytes_free(&out);
        csn_builder_destroy(b);
    }
}

/* Version 2, with a build id that version 1 has no room for; or whichever has room. */
static void formats(void **state) {
    (void)state;
    static const uint8_t uuid[30] = { 1, 2, 3 };
    static const uint32_t want[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2, CSN_FORMAT_GSYM_V2, CSN_FORMAT_GSYM_V1 };
    static const uint32_t given[] = { 0, CSN_FORMAT_GSYM_V2, CSN_FORMAT_GSYM_AUTO, CSN_FORMAT_GSYM_AUTO };
    for (size_t i = 0; i < 4; i++) {
        struct csn_builder_options o = CSN_BUILDER_OPTIONS_INIT;
        struct csn_builder *b;
        struct csn_bytes out;
        struct csn_index *index;
        struct csn_index_info info;
        o.format = given[i];
        o.uuid = uuid;
        o.uuid_size = want[i] == CSN_FORMAT_GSYM_V2 ? sizeof uuid : 20;
        OK(csn_builder_create(&o, &b, NULL));
        OK(fill(b, 0));
        OK(csn_builder_save_memory(b, &out, NULL));
        expect_answers(&out);
        OK(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL));
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.format, want[i]);
        assert_int_equal(info.uuid_bytes, o.uuid_size);
        assert_memory_equal(info.uuid, uuid, o.uuid_size);
        csn_index_close(index);
        csn_bytes_free(&out);
        csn_builder_destroy(b);
    }
}

/* ---- saving ---- */

static char folder[] = "/tmp/csn_builder_XXXXXX";

static struct csn_bytes read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static uint8_t bytes[65536];
    struct csn_bytes out = { bytes, fread(bytes, 1, sizeof bytes, file), NULL };
    fclose(file);
    return out;
}

static void saved_more_than_once(void **state) {
    (void)state;
    static const char done[] = "the index is saved, nothing more can be added";
    struct csn_builder *b = create(NULL);
    struct csn_bytes first, second;
    char path[64];
    uint32_t file = 0;
    snprintf(path, sizeof path, "%s/saved.gsym", folder);
    OK(fill(b, 1));
    OK(csn_builder_save_memory(b, &first, NULL));
    OK(csn_builder_save_file(b, path, NULL));
    OK(csn_builder_save_memory(b, &second, NULL));
    struct csn_bytes in_file = read_file(path);
    assert_int_equal(first.size, second.size);
    assert_int_equal(first.size, in_file.size);
    assert_memory_equal(first.ptr, second.ptr, first.size);
    assert_memory_equal(first.ptr, in_file.ptr, first.size);
    EXPECT(csn_builder_add_file(b, str("/"), str("x"), &file, &err), CSN_E_ARGUMENT, done);
    EXPECT(csn_builder_begin_function(b, 0, 1, str("x"), &err), CSN_E_ARGUMENT, done);
    EXPECT(csn_builder_add_row(b, 0x1200, 1, 1, &err), CSN_E_ARGUMENT, done);
    EXPECT(inline_at(b, 0x1200, 0x1201, &err), CSN_E_ARGUMENT, done);
    EXPECT(csn_builder_end_inline(b, &err), CSN_E_ARGUMENT, done);
    EXPECT(csn_builder_add_call_site(b, 1, 0, NULL, 0, &err), CSN_E_ARGUMENT, done);
    unlink(path);
    csn_bytes_free(&first);
    csn_bytes_free(&second);
    csn_builder_destroy(b);
}

/* A refusal is not the end: what was missing can still be done. */
static void save_with_an_open_call(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    struct csn_bytes out;
    char path[64];
    snprintf(path, sizeof path, "%s/none.gsym", folder);
    OK(csn_builder_begin_function(b, 0x10, 0x10, str("f"), NULL));
    OK(inline_at(b, 0x10, 0x14, NULL));
    OK(inline_at(b, 0x10, 0x12, NULL));
    EXPECT(csn_builder_save_memory(b, &out, &err), CSN_E_ARGUMENT, "2 inlined calls are still open");
    EXPECT(csn_builder_save_file(b, path, &err), CSN_E_ARGUMENT, "2 inlined calls are still open");
    assert_int_equal(access(path, F_OK), -1);
    OK(csn_builder_end_inline(b, NULL));
    OK(csn_builder_end_inline(b, NULL));
    OK(csn_builder_save_memory(b, &out, NULL));
    csn_bytes_free(&out);
    csn_builder_destroy(b);
}

static void save_where_nothing_can_be(void **state) {
    (void)state;
    struct csn_builder *b = create(NULL);
    struct csn_error err = CSN_ERROR_INIT;
    char path[64];
    snprintf(path, sizeof path, "%s/no/such/folder.gsym", folder);
    OK(fill(b, 0));
    assert_int_equal(csn_builder_save_file(b, path, &err), CSN_E_IO);
    assert_int_not_equal(err.os_error, 0);
    assert_int_equal(csn_builder_save_file(b, folder, &err), CSN_E_IO);
    snprintf(path, sizeof path, "%s/good.gsym", folder);
    OK(csn_builder_save_file(b, path, &err));
    unlink(path);
    csn_builder_destroy(b);
}

/* ---- memory ---- */

static csn_status build(const struct csn_allocator *alloc, const char *path) {
    struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
    struct csn_builder *b;
    struct csn_bytes out;
    options.allocator = alloc;
    csn_status status = csn_builder_create(&options, &b, NULL);
    if (status < 0) return status;
    status = fill(b, 2);
    if (status >= 0) status = path ? csn_builder_save_file(b, path, NULL) : csn_builder_save_memory(b, &out, NULL);
    if (status >= 0 && !path) csn_bytes_free(&out);
    csn_builder_destroy(b);
    return status;
}

static csn_status build_step(void *context, const struct csn_allocator *alloc) { return build(alloc, context); }

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(build_step, NULL, 0) > 30);
    assert_true(test_allocator_sweep(build_step, NULL, 1) > 30);
}

/* The file is the old one or the whole new one. (What only serves to sync the folder may fail without a word.) */
static void allocation_failures_and_a_file(void **state) {
    (void)state;
    struct csn_bytes whole = built(0);
    char path[64];
    snprintf(path, sizeof path, "%s/sweep.gsym", folder);
    for (uint64_t nth = 1;; nth++) {
        struct test_allocator t;
        test_allocator_init(&t);
        test_allocator_fail(&t, nth, 0);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite("old", 1, 3, file), 3);
        fclose(file);
        csn_status status = build(&t.base, path);
        struct csn_bytes in_file = read_file(path);
        assert_int_equal(in_file.size, status < 0 ? 3 : whole.size);
        assert_memory_equal(in_file.ptr, status < 0 ? (const uint8_t *)"old" : whole.ptr, in_file.size);
        test_allocator_check_empty(&t);
        if (!atomic_load(&t.refused)) break;
    }
    unlink(path);
    csn_bytes_free(&whole);
}

/* A caller that goes on regardless: once something could not be added, no index is made; but a save that only lacked memory
 * for itself can be repeated. */
static void going_on_after_failure(void **state) {
    (void)state;
    struct csn_bytes whole = built(0);
    for (uint64_t nth = 1;; nth++) {
        struct test_allocator t;
        struct csn_bytes out = { NULL, 0, NULL };
        struct csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
        struct csn_builder *b;
        test_allocator_init(&t);
        options.allocator = &t.base;
        OK(csn_builder_create(&options, &b, NULL));
        test_allocator_fail(&t, nth, 0);
        csn_status filled = fill(b, 0), again = CSN_OK;
        if (filled < 0) again = csn_builder_begin_function(b, 1, 1, str("x"), NULL);
        csn_status saved = csn_builder_save_memory(b, &out, NULL);
        if (filled < 0) {
            assert_int_equal(again, CSN_E_MEMORY);
            assert_int_equal(saved, CSN_E_MEMORY);
        } else {
            if (saved < 0) saved = csn_builder_save_memory(b, &out, NULL);
            assert_int_equal(saved, CSN_OK);
            assert_int_equal(out.size, whole.size);
            assert_memory_equal(out.ptr, whole.ptr, whole.size);
        }
        csn_bytes_free(&out);
        csn_builder_destroy(b);
        test_allocator_check_empty(&t);
        if (!atomic_load(&t.refused)) break;
    }
    csn_bytes_free(&whole);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(functions_below_the_base),
        cmocka_unit_test(a_base_far_below),
        cmocka_unit_test(nothing_begun),
        cmocka_unit_test(functions),
        cmocka_unit_test(rows),
        cmocka_unit_test(inlined_calls),
        cmocka_unit_test(deepest_nest),
        cmocka_unit_test(call_sites),
        cmocka_unit_test(any_order_of_functions),
        cmocka_unit_test(options_reach_the_file),
        cmocka_unit_test(formats),
        cmocka_unit_test(saved_more_than_once),
        cmocka_unit_test(save_with_an_open_call),
        cmocka_unit_test(save_where_nothing_can_be),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(allocation_failures_and_a_file),
        cmocka_unit_test(going_on_after_failure),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
