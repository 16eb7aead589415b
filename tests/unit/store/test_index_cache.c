/* The cache: entries that read back, every kind of damage, locks, negative entries, lists, pruning, lack of memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/cache.h>

#include "store/index_cache.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

static char folder[64];
static struct csn_error err;
static const uint8_t ID[4] = { 0xab, 0xcd, 0xef, 1 };

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/csn-cache-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

static struct csn_cache *cache_of(uint64_t max_bytes) {
    struct csn_cache_options options = CSN_CACHE_OPTIONS_INIT;
    struct csn_cache *cache;
    options.max_bytes = max_bytes;
    assert_int_equal(csn_cache_open(folder, &options, &cache, &err), CSN_OK);
    assert_string_equal(csn_cache_dir(cache), folder);
    return cache;
}

static struct csni_cache_key key_of(uint8_t last) {
    uint8_t id[4];
    memcpy(id, ID, sizeof id);
    id[3] = last;
    return csni_cache_key_of(id, sizeof id, NULL);
}

/* An index with one function. */
static void publish(struct csn_cache *cache, uint8_t last) {
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000 * (uint64_t)(last + 1));
    wire_gsym_function(&g, 0x1000 * (uint64_t)(last + 1), 16, "f");
    const struct csni_span bytes = wire_gsym_build(&g);
    const struct csni_cache_source source = { .path = "/usr/bin/app", .size = 77, .modified_ns = 5 };
    const struct csni_cache_key key = key_of(last);
    assert_int_equal(csni_cache_publish(cache, &key, bytes, &source, last == 9 ? CSN_CACHE_SYMBOLS_ONLY : 0, 3, &err), CSN_OK);
    csni_cache_note_published(cache, bytes.size);
    wire_gsym_deinit(&g);
}

static const char *entry_path(uint8_t last) {
    static char path[128];
    snprintf(path, sizeof path, "%s/ab/cdef%02x.gsym", folder, last);
    return path;
}

static size_t read_entry(const char *path, uint8_t *out, size_t cap) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(out, 1, cap, file);
    assert_int_equal(fclose(file), 0);
    return size;
}

static void write_entry(const char *path, const uint8_t *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void test_reads_back(void **state) {
    (void)state;
    struct csn_cache *cache = cache_of(0);
    struct csni_cache_key key = key_of(1), other = key_of(2);
    struct csni_cache_read read;
    struct csn_index *index;
    struct csn_index_info info;
    assert_int_equal(csni_cache_read(cache, &key, false, &read, &err), CSN_NONE);
    publish(cache, 1);
    assert_int_equal(csni_cache_read(cache, &other, false, &read, &err), CSN_NONE);
    for (int check = 0; check < 2; check++) {
        assert_int_equal(csni_cache_read(cache, &key, check, &read, &err), CSN_OK);
        assert_int_equal(read.meta.source_size, 77);
        assert_int_equal(read.meta.source_modified_ns, 5);
        assert_int_equal(read.meta.settings, 3);
        assert_int_equal(read.meta.source.size, strlen("/usr/bin/app"));
        assert_int_equal(csni_cache_open_index(&read, NULL, &index, &err), CSN_OK);
        csn_index_get_info(index, &info, sizeof info);
        assert_int_equal(info.base_address, 0x2000);
        csn_index_close(index);
    }
    csn_cache_close(cache);
    csn_cache_close(NULL);
}

/* Each byte, and each length: what a change leaves is never read. */
static void test_damage(void **state) {
    (void)state;
    static uint8_t good[4096], bad[4096];
    struct csn_cache *cache = cache_of(0);
    struct csni_cache_key key = key_of(1);
    struct csni_cache_read read;
    publish(cache, 1);
    const char *path = entry_path(1);
    size_t size = read_entry(path, good, sizeof good);
    assert_in_range(size, 200, sizeof good - 1);
    for (size_t i = 0; i < size; i++) {
        memcpy(bad, good, size);
        bad[i] ^= 0x10;
        write_entry(path, bad, size);
        csn_status status = csni_cache_read(cache, &key, false, &read, &err);
        assert_true(status == CSN_NONE || status == CSN_E_FORMAT); /* NONE: another version */
    }
    for (size_t i = 0; i < size; i++) {
        write_entry(path, good, i);
        assert_int_equal(csni_cache_read(cache, &key, false, &read, &err), CSN_E_FORMAT);
    }
    /* Written again as it was: the checksum tells that it is good. */
    write_entry(path, good, size);
    assert_int_equal(csni_cache_read(cache, &key, false, &read, &err), CSN_OK);
    csni_cache_read_close(&read);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mtim.tv_nsec, 0);
    csn_cache_close(cache);
}

static void test_another_id(void **state) {
    (void)state;
    static uint8_t bytes[4096];
    struct csn_cache *cache = cache_of(0);
    struct csni_cache_key other = key_of(2);
    struct csni_cache_read read;
    publish(cache, 1);
    size_t size = read_entry(entry_path(1), bytes, sizeof bytes);
    write_entry(entry_path(2), bytes, size);
    assert_int_equal(csni_cache_read(cache, &other, false, &read, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, "it is the entry of another id");
    csn_cache_close(cache);
}

static void test_locks(void **state) {
    (void)state;
    struct csn_cache *cache = cache_of(0);
    struct csni_cache_key key = key_of(1);
    struct csni_cache_lock lock, second;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(csni_cache_lock(cache, &key, &lock), CSN_OK);
    assert_int_equal(csni_cache_try_lock_path(lock.path, &second), CSN_NONE);
    pid_t child = fork();
    if (child == 0) { /* waits, then holds it until it is killed */
        struct csni_cache_lock own;
        if (csni_cache_lock(cache, &key, &own) != CSN_OK || write(pipes[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    csni_cache_unlock(&lock);
    csni_cache_unlock(&lock);
    char byte;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    assert_int_equal(csni_cache_try_lock_path(lock.path, &second), CSN_NONE);
    assert_int_equal(kill(child, 9), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(csni_cache_lock(cache, &key, &lock), CSN_OK);
    csni_cache_unlock(&lock);
    assert_int_not_equal(access(lock.path, F_OK), 0);
    close(pipes[0]);
    close(pipes[1]);
    csn_cache_close(cache);
}

static void test_negative(void **state) {
    (void)state;
    struct csn_cache *cache = cache_of(0);
    struct csni_cache_key key = key_of(1);
    struct csn_cache_pruned pruned;
    char path[128];
    snprintf(path, sizeof path, "%s/ab/cdef01.none", folder);
    assert_false(csni_cache_is_negative(cache, &key, 7));
    csni_cache_put_negative(cache, &key, 7);
    assert_true(csni_cache_is_negative(cache, &key, 7));
    assert_false(csni_cache_is_negative(cache, &key, 8)); /* searched elsewhere */
    assert_int_equal(csn_cache_prune(cache, 0, &pruned, &err), CSN_OK);
    assert_int_equal(access(path, F_OK), 0);
    const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_false(csni_cache_is_negative(cache, &key, 7));
    assert_int_equal(csn_cache_prune(cache, 0, &pruned, &err), CSN_OK);
    assert_int_equal(pruned.leftovers, 1);
    assert_int_not_equal(access(path, F_OK), 0);
    csni_cache_put_negative(cache, &key, 7);
    publish(cache, 1);
    assert_false(csni_cache_is_negative(cache, &key, 7));
    csn_cache_close(cache);
}

struct listing {
    size_t count, damaged;
    uint32_t flags;
};
static bool count_entry(void *context, const struct csn_cache_entry *entry) {
    struct listing *listing = context;
    listing->count++;
    listing->damaged += entry->status < 0;
    listing->flags |= entry->flags;
    assert_int_equal(entry->id_size, sizeof ID);
    assert_memory_equal(entry->id, ID, 3);
    if (entry->status == CSN_OK) assert_string_equal(entry->source, "/usr/bin/app");
    else assert_true(entry->text[0]);
    return listing->count < 5;
}

static void test_list_and_prune(void **state) {
    (void)state;
    struct csn_cache *cache = cache_of(0);
    struct listing listing = { .count = 0 };
    struct csn_cache_pruned pruned;
    char path[160];
    assert_int_equal(csn_cache_list(cache, 0, count_entry, &listing, &err), CSN_OK);
    assert_int_equal(listing.count, 0);
    assert_int_equal(csn_cache_list(cache, 64, count_entry, &listing, &err), CSN_E_UNSUPPORTED);
    for (uint8_t i = 0; i < 4; i++) publish(cache, i);
    publish(cache, 9);
    write_entry(entry_path(2), ID, sizeof ID);
    snprintf(path, sizeof path, "%s/ab/cdef03.gsym.tmp-1-0", folder);
    write_entry(path, ID, sizeof ID);
    snprintf(path, sizeof path, "%s/ab/stranger", folder);
    write_entry(path, ID, sizeof ID);
    assert_int_equal(csn_cache_list(cache, CSN_CACHE_CHECK, count_entry, &listing, &err), CSN_OK);
    assert_int_equal(listing.count, 5);
    assert_int_equal(listing.damaged, 1);
    assert_int_equal(listing.flags, CSN_CACHE_SYMBOLS_ONLY);
    assert_int_equal(csn_cache_prune(cache, UINT64_MAX, &pruned, &err), CSN_OK);
    assert_int_equal(pruned.entries, 1);
    assert_int_equal(pruned.entries_left, 4);
    assert_int_equal(pruned.leftovers, 1);
    assert_int_equal(access(path, F_OK), 0); /* not the cache's */
    /* As many bytes as there are may stay, and not one less. */
    assert_int_equal(csn_cache_prune(cache, pruned.bytes_left, &pruned, &err), CSN_OK);
    assert_int_equal(pruned.entries, 0);
    assert_int_equal(csn_cache_prune(cache, pruned.bytes_left - 1, &pruned, &err), CSN_OK);
    assert_int_equal(pruned.entries, 1);
    csn_cache_close(cache);
}

/* Publishing keeps the cache within its limit. */
static void test_limit(void **state) {
    (void)state;
    struct csn_cache *cache = cache_of(2000);
    struct stat st;
    uint64_t total = 0;
    for (uint8_t i = 0; i < 30; i++) publish(cache, i);
    for (uint8_t i = 0; i < 30; i++)
        if (stat(entry_path(i), &st) == 0) total += (uint64_t)st.st_size;
    assert_in_range(total, 200, 2000);
    csn_cache_close(cache);
}

static void test_htlhash(void **state) {
    (void)state;
    static uint8_t bytes[10000];
    uint8_t hash[CSNI_HTLHASH_SIZE], other[CSNI_HTLHASH_SIZE];
    /* SHA-256 of eight zero bytes */
    static const uint8_t of_empty[] = { 0xaf, 0x55, 0x70, 0xf5, 0xa1, 0x81, 0x0b, 0x7a };
    csni_htlhash((struct csni_span){ NULL, 0 }, hash);
    assert_memory_equal(hash, of_empty, sizeof of_empty);
    csni_htlhash((struct csni_span){ bytes, sizeof bytes }, hash);
    bytes[5000] = 1; /* neither head nor tail */
    csni_htlhash((struct csni_span){ bytes, sizeof bytes }, other);
    assert_memory_equal(hash, other, sizeof hash);
    bytes[9999] = 1;
    csni_htlhash((struct csni_span){ bytes, sizeof bytes }, other);
    assert_int_not_equal(memcmp(hash, other, sizeof hash), 0);
    struct csni_cache_key key = csni_cache_key_of(ID, 1, hash);
    assert_true(key.is_htlhash && key.size == CSNI_HTLHASH_SIZE);
    key = csni_cache_key_of(ID, 4, hash);
    assert_true(!key.is_htlhash && key.size == 4);
    assert_int_equal(csni_cache_key_of(NULL, 0, NULL).size, 0);
}

static csn_status list_and_prune(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct csn_cache_options options = CSN_CACHE_OPTIONS_INIT;
    struct csn_cache *cache;
    struct listing listing = { .count = 0 };
    options.allocator = alloc;
    csn_status status = csn_cache_open(folder, &options, &cache, &err);
    if (status < 0) return status;
    status = csn_cache_list(cache, 0, count_entry, &listing, &err);
    if (status == CSN_OK) status = csn_cache_prune(cache, UINT64_MAX, NULL, &err);
    csn_cache_close(cache);
    return status;
}

static void test_arguments_and_memory(void **state) {
    (void)state;
    static char long_name[CSNI_CACHE_PATH_SIZE + 1];
    struct csn_cache *cache;
    memset(long_name, 'x', sizeof long_name - 1);
    assert_int_equal(csn_cache_open("", NULL, &cache, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_cache_open(NULL, NULL, &cache, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_cache_open(long_name, NULL, &cache, &err), CSN_E_ARGUMENT);
    cache = cache_of(0);
    for (uint8_t i = 0; i < 4; i++) publish(cache, i);
    csn_cache_close(cache);
    assert_true(test_allocator_sweep(list_and_prune, NULL, 0) > 3);
    assert_true(test_allocator_sweep(list_and_prune, NULL, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_locks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_negative, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_and_prune, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
        cmocka_unit_test(test_htlhash),
        cmocka_unit_test_setup_teardown(test_arguments_and_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
