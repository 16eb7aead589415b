/* csn_index_open_any(): an index, a file to convert, and what is neither. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/convert.h>
#include <callsign/embed.h>
#include <callsign/inspect.h>
#include <callsign/open.h>

#include "convert_sample.h"
#include "test_alloc.h"

static char folder[] = "/tmp/callsign-open-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    return snprintf(path, sizeof path, "%s/file", folder) < 0;
}

static int drop_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_path(const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static struct csni_span object_of(struct convert_sample *s) {
    convert_sample_init(s, 5, false);
    convert_sample_fill(s);
    return convert_sample_build(s);
}

/* What was opened answers for its first function; nothing is left after. */
static void expect_opened(uint32_t format) {
    struct test_allocator t;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    test_allocator_init(&t);
    options.allocator = &t.base;
    options.accelerator_bytes = UINT64_MAX;
    if (csn_index_open_any(path, &options, &index, &err) != CSN_OK) fail_msg("%s", csn_error_text(&err));
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    assert_int_equal(info.format, format);
    assert_true(info.function_count > 0);
    struct csn_function first;
    struct csn_frame frame;
    size_t count;
    assert_int_equal(csn_index_function(index, 0, &first, NULL), CSN_OK);
    assert_int_equal(csn_index_lookup(index, first.start, &frame, 1, &count, NULL), CSN_OK);
    assert_true(frame.name.len > 0);
    csn_index_close(index);
    test_allocator_check_empty(&t);
}

static void kinds(void **state) {
    (void)state;
    struct convert_sample s;
    struct csn_bytes index = { NULL, 0, NULL }, carrier = { NULL, 0, NULL };
    struct csni_span object = object_of(&s);
    write_path(object.ptr, object.size);
    expect_opened(CSN_FORMAT_GSYM_V1);
    assert_int_equal(csn_convert_memory(object.ptr, object.size, NULL, &index, NULL, NULL), CSN_OK);
    write_path(index.ptr, index.size);
    expect_opened(CSN_FORMAT_GSYM_V1);
    assert_int_equal(csn_embed_memory(index.ptr, index.size, object.ptr, object.size, NULL, &carrier, NULL), CSN_OK);
    write_path(carrier.ptr, carrier.size);
    expect_opened(CSN_FORMAT_GSYM_V1);
    static const char breakpad[] = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app\nFUNC 1000 20 0 main\n";
    write_path(breakpad, sizeof breakpad - 1);
    expect_opened(CSN_FORMAT_GSYM_V1);
    csn_bytes_free(&carrier);
    csn_bytes_free(&index);
    convert_sample_deinit(&s);
}

static void failures(void **state) {
    (void)state;
    struct csn_index *index = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    write_path("hello, world\n", 13);
    assert_int_equal(csn_index_open_any(path, NULL, &index, &err), CSN_E_FORMAT);
    assert_true(err.text[0]);
    unlink(path);
    assert_int_equal(csn_index_open_any(path, NULL, &index, &err), CSN_E_IO);
    assert_int_equal(csn_index_open_any(folder, NULL, &index, &err), CSN_E_IO);
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.struct_size = 1;
    assert_int_equal(csn_index_open_any(path, &options, &index, &err), CSN_E_ARGUMENT);
    assert_null(index);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(kinds), cmocka_unit_test(failures) };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
