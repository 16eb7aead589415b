/* csn_index_open_any(): an index, a file to convert, and what is neither. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/convert.h>
#include <callsign/embed.h>
#include <callsign/inspect.h>
#include <callsign/open.h>

#include "support/convert_sample.h"
#include "support/test_alloc.h"

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
    assert_int_equal(csn_index_open_any(folder, NULL, &index, &err), CSN_E_UNSUPPORTED);
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.struct_size = 1;
    assert_int_equal(csn_index_open_any(path, &options, &index, &err), CSN_E_ARGUMENT);
    assert_null(index);
}

/* ---- with a cache ---- */

static csn_status open_cached(void *context, const struct csn_allocator *alloc) {
    const char *dir = context;
    struct csn_cache_options of_cache = CSN_CACHE_OPTIONS_INIT;
    struct csn_opener_options of_opener = CSN_OPENER_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_cache *cache = NULL;
    struct csn_opener *opener = NULL;
    struct csn_index *index = NULL;
    of_cache.allocator = of_opener.allocator = alloc;
    csn_status status = csn_cache_open(dir, &of_cache, &cache, &err);
    of_opener.cache = cache;
    of_opener.threads = 1;
    if (status == CSN_OK) status = csn_opener_create(&of_opener, &opener, &err);
    if (status == CSN_OK) status = csn_opener_open(opener, path, NULL, NULL, &index, NULL, NULL, &err);
    csn_index_close(index);
    csn_opener_destroy(opener);
    csn_cache_close(cache);
    return status;
}

static uint32_t opened_flags(struct csn_opener *opener) {
    struct csn_opened opened = CSN_OPENED_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (csn_opener_open(opener, path, NULL, NULL, &index, &opened, NULL, &err) != CSN_OK) fail_msg("%s", csn_error_text(&err));
    csn_index_close(index);
    return opened.flags;
}

static void cached(void **state) {
    (void)state;
    char dir[80], command[128];
    struct convert_sample s;
    struct csn_opener_options options = CSN_OPENER_OPTIONS_INIT;
    struct csn_cache *cache;
    struct csn_opener *opener;
    struct csni_span object = object_of(&s);
    snprintf(dir, sizeof dir, "%s/cache", folder);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    write_path(object.ptr, object.size);
    assert_int_equal(csn_cache_open(dir, NULL, &cache, NULL), CSN_OK);
    options.cache = cache;
    assert_int_equal(csn_opener_create(&options, &opener, NULL), CSN_OK);
    assert_int_equal(opened_flags(opener), CSN_OPENED_CONVERTED | CSN_OPENED_KEPT);
    assert_int_equal(opened_flags(opener), CSN_OPENED_FROM_CACHE);
    /* The same bytes at another time may be others. */
    const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(opened_flags(opener), CSN_OPENED_CONVERTED | CSN_OPENED_KEPT);
    assert_int_equal(opened_flags(opener), CSN_OPENED_FROM_CACHE);
    assert_true(test_allocator_sweep(open_cached, dir, 1) > 5);
    csn_opener_destroy(opener);
    csn_opener_destroy(NULL);
    csn_cache_close(cache);
    assert_int_equal(system(command), 0);
    convert_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(kinds), cmocka_unit_test(cached), cmocka_unit_test(failures) };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
