/* base/core/file_map.c. */
#define _GNU_SOURCE

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/file_map.h"

static char folder[] = "/tmp/csn-file-map-XXXXXX";
static char path[256];

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *at(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size) {
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void check_refused(const char *name, csn_status status, int os_error, const char *text) {
    struct csni_file_map map = { { (const uint8_t *)"x", 1 }, NULL, 0 };
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_file_map_open(&map, name, &err), status);
    assert_string_equal(csn_error_text(&err), text);
    assert_int_equal(err.code, status);
    assert_int_equal(err.os_error, os_error);
    assert_int_equal(map.bytes.size, 1); /* untouched */
    assert_int_equal(csni_file_map_open(&map, name, NULL), status);
}

/* It says that it has no bytes, and is the same in every reading of this process. Not everywhere is there a /proc. */
static void made_up_file(void **state) {
    (void)state;
    static const char name[] = "/proc/self/cmdline";
    struct csni_file_map map;
    struct stat st;
    char bytes[4096];
    FILE *f = fopen(name, "rb");
    if (!f) skip();
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(csni_file_map_open(&map, name, NULL), CSN_OK);
    assert_true(size > 0 && map.bytes.size >= size);
    assert_memory_equal(map.bytes.ptr, bytes, size);
    csni_file_map_forget(map.bytes.ptr, map.bytes.size);
    assert_memory_equal(map.bytes.ptr, bytes, size); /* comes back */
    csni_file_map_close(&map);
    assert_null(map.bytes.ptr);
}

static void normal_file(void **state) {
    (void)state;
    write_file("f", "hello", 5);
    struct csni_file_map map;
    struct csn_error err;
    assert_int_equal(csni_file_map_open(&map, at("f"), &err), CSN_OK);
    assert_int_equal(map.bytes.size, 5);
    assert_memory_equal(map.bytes.ptr, "hello", 5);
    assert_int_equal(unlink(path), 0);
    assert_memory_equal(map.bytes.ptr, "hello", 5);
    csni_file_map_close(&map);
    assert_null(map.bytes.ptr);
    csni_file_map_close(&map);
    csni_file_map_close(NULL);
}

static void empty_file(void **state) {
    (void)state;
    write_file("f", "", 0);
    struct csni_file_map map;
    assert_int_equal(csni_file_map_open(&map, at("f"), NULL), CSN_OK);
    assert_int_equal(map.bytes.size, 0);
    assert_int_equal(map.mapped, 0);
    csni_file_map_close(&map);
    unlink(path);
}

static void not_files(void **state) {
    (void)state;
    check_refused(at("missing"), CSN_E_IO, ENOENT, "No such file or directory");
    check_refused(folder, CSN_E_UNSUPPORTED, EISDIR, "is a directory");
    check_refused("/dev/null", CSN_E_UNSUPPORTED, 0, "is not a regular file");
    check_refused("", CSN_E_IO, ENOENT, "No such file or directory");
    /* Would wait for a writer forever. */
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    check_refused(path, CSN_E_UNSUPPORTED, 0, "is not a regular file");
    unlink(path);
}

static void a_socket(void **state) {
    (void)state;
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    snprintf(name.sun_path, sizeof name.sun_path, "%s/s", folder);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof name), 0);
    check_refused(name.sun_path, CSN_E_UNSUPPORTED, 0, "is not a regular file");
    close(fd);
    unlink(name.sun_path);
}

static bool resident(const void *page) {
    unsigned char in_core = 0;
    assert_int_equal(mincore((void *)(uintptr_t)page, 1, &in_core), 0);
    return in_core & 1;
}

static void forgotten_pages_come_back(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 8 * page + 100;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 7 + i / 256);
    write_file("f", bytes, size);
    struct csni_file_map map;
    assert_int_equal(csni_file_map_open(&map, at("f"), NULL), CSN_OK);
    assert_memory_equal(map.bytes.ptr, bytes, size);
    csni_file_map_forget(map.bytes.ptr + 1, size - 1);
    assert_memory_equal(map.bytes.ptr, bytes, size);
    csni_file_map_forget(map.bytes.ptr + 1, 5);
    csni_file_map_forget(NULL, 0);
    csni_file_map_close(&map);
    free(bytes);
    unlink(path);
}

static void discarded_pages_are_zero(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 8 * page;
    uint8_t *p = csni_pages_alloc(size);
    assert_non_null(p);
    for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
    memset(p, 0xab, size);
    /* whole pages within: 2, 3, 4; parts of 1 and 5 stay */
    csni_pages_discard(p + page + 1, 4 * page);
    assert_true(resident(p + page));
    assert_false(resident(p + 2 * page));
    assert_false(resident(p + 4 * page));
    assert_true(resident(p + 5 * page));
    for (size_t i = 0; i < size; i++) {
        size_t in = i / page;
        if (p[i] != (in >= 2 && in <= 4 ? 0 : 0xab)) fail_msg("byte %zu is %#x", i, p[i]);
    }
    memset(p, 0xab, size);
    csni_pages_discard(p + 1, page); /* no whole page */
    csni_pages_discard(p + 1, page - 2);
    csni_pages_discard(p, 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0xab);
    csni_pages_discard(p, page); /* exactly one */
    assert_int_equal(p[0], 0);
    assert_int_equal(p[page], 0xab);
    csni_pages_free(p, size);
    csni_pages_free(NULL, 0);
    assert_null(csni_pages_alloc(0));
    assert_null(csni_pages_alloc(SIZE_MAX - page));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_file),
        cmocka_unit_test(made_up_file),
        cmocka_unit_test(empty_file),
        cmocka_unit_test(not_files),
        cmocka_unit_test(a_socket),
        cmocka_unit_test(forgotten_pages_come_back),
        cmocka_unit_test(discarded_pages_are_zero),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
