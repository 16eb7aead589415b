/* Entries: an index, the path of its source, and a footer with a checksum.
 *
 * The index comes first, so that an entry is an index file for every reader. The checksum of a large entry takes milliseconds
 * to compute, and a lookup less: therefore it is compared when the modification time of the file is not the one that was set
 * when it was written, which is then two seconds before the time within; and by `cache verify` and `cache add`. */
#define _GNU_SOURCE
#include "store/index_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/file_times.h"
#include "base/file_output.h"
#include "base/hash.h"
#include "index/index_owner.h"

/* The footer, little-endian, at the end of the file. */
enum {
    F_MAGIC = 0,            /* 8 bytes */
    F_VERSION = 8,          /* u32 */
    F_FLAGS = 12,           /* u32 */
    F_PAYLOAD_SIZE = 16,    /* u64 */
    F_MADE = 24,            /* u64, seconds */
    F_SOURCE_SIZE = 32,     /* u64 */
    F_SOURCE_MODIFIED = 40, /* u64, nanoseconds */
    F_HTLHASH = 48,         /* 16 bytes */
    F_ID = 64,              /* 32 bytes */
    F_ID_SIZE = 96,         /* u32 */
    F_PATH_SIZE = 100,      /* u32 */
    F_SETTINGS = 104,       /* u64 */
    F_LIBRARY = 112,        /* u64: hash of the library's version */
    F_SUM = 120,            /* u64: of all bytes before */
    FOOTER_SIZE = 128
};
static const char MAGIC[8] = { 'C', 'S', 'N', 'C', 'A', 'C', 'H', 'E' };
enum { ENTRY_VERSION = 1, STAMP_AGE_S = 2, USED_STEP_S = 3600, SOURCE_PATH_MAX = 4096 };

/* What another version converts may differ, also between releases: the build hashes the converter's sources. */
static uint64_t library_hash(void) {
#ifdef CSNI_HAVE_SOURCE_HASH
    const char *version = csni_source_hash;
#else
    const char *version = csn_version();
#endif
    return csni_hash_bytes(version, strlen(version));
}

static uint64_t now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > 0 ? (uint64_t)now.tv_sec : 0;
}

uint64_t csni_cache_sum(struct csni_span entry) { return csni_hash_bytes(entry.ptr, entry.size - (FOOTER_SIZE - F_SUM)); }

/* ---- reading ---- */

static csn_status parse_footer(struct csni_span entry, struct csni_cache_meta *out, struct csn_error *err) {
    if (entry.size < FOOTER_SIZE)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "it has %zu bytes, an entry has at least %d", entry.size, FOOTER_SIZE);
    const uint8_t *footer = entry.ptr + entry.size - FOOTER_SIZE;
    if (memcmp(footer + F_MAGIC, MAGIC, sizeof MAGIC) != 0)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "its end is not that of an entry");
    if (csni_get32(footer + F_VERSION, false) != ENTRY_VERSION || csni_get64(footer + F_LIBRARY, false) != library_hash())
        return CSN_NONE;
    uint32_t path_size = csni_get32(footer + F_PATH_SIZE, false);
    struct csni_cache_meta meta = {
        .flags = csni_get32(footer + F_FLAGS, false), .payload_size = csni_get64(footer + F_PAYLOAD_SIZE, false),
        .made = csni_get64(footer + F_MADE, false), .source_size = csni_get64(footer + F_SOURCE_SIZE, false),
        .source_modified_ns = csni_get64(footer + F_SOURCE_MODIFIED, false), .id_size = csni_get32(footer + F_ID_SIZE, false),
        .settings = csni_get64(footer + F_SETTINGS, false),
    };
    uint64_t parts = (uint64_t)entry.size - FOOTER_SIZE;
    if (meta.payload_size > parts || parts - meta.payload_size != path_size || meta.id_size > CSNI_CACHE_ID_MAX)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "it has %zu bytes, its parts have %" PRIu64 " + %u + %d", entry.size,
                         meta.payload_size, path_size, FOOTER_SIZE);
    memcpy(meta.htlhash, footer + F_HTLHASH, sizeof meta.htlhash);
    memcpy(meta.id, footer + F_ID, sizeof meta.id);
    csni_span_sub(entry, meta.payload_size, path_size, &meta.source);
    *out = meta;
    return CSN_OK;
}

static csn_status check_sum(struct csni_span entry, struct csn_error *err) {
    uint64_t has = csni_cache_sum(entry), needs = csni_get64(entry.ptr + entry.size - FOOTER_SIZE + F_SUM, false);
    if (has == needs) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "its checksum is %016" PRIx64 ", it should be %016" PRIx64, has, needs);
}

static bool has_stamp(const struct stat *st, const struct csni_cache_meta *meta) {
    const struct timespec modified = csni_time_changed(st);
    return modified.tv_nsec == 0 && modified.tv_sec >= 0 && (uint64_t)modified.tv_sec + STAMP_AGE_S == meta->made;
}

static void set_times(const char *path, struct timespec used, struct timespec modified) {
    const struct timespec times[2] = { used, modified };
    (void)utimensat(AT_FDCWD, path, times, 0);
}

/* That it was used, for pruning; also where the file system keeps no access times. */
static void note_used(const char *path, const struct stat *st) {
    const struct timespec now = { .tv_nsec = UTIME_NOW }, keep = { .tv_nsec = UTIME_OMIT };
    const struct timespec at = csni_time_read(st);
    uint64_t used = at.tv_sec > 0 ? (uint64_t)at.tv_sec : 0;
    if (used + USED_STEP_S < now_seconds()) set_times(path, now, keep);
}

static void set_stamp(const char *path, const struct csni_cache_meta *meta) {
    const struct timespec keep = { .tv_nsec = UTIME_OMIT }, stamp = { .tv_sec = (time_t)(meta->made - STAMP_AGE_S) };
    set_times(path, keep, stamp);
}

csn_status csni_cache_read_path(const char *path, bool check, struct csni_cache_read *out, struct csn_error *err) {
    struct csni_cache_read read = { .meta = { .flags = 0 } };
    struct stat st;
    if (stat(path, &st) != 0) return errno == ENOENT || errno == ENOTDIR ? CSN_NONE : csni_fail_os(err, errno, "the entry");
    CSNI_TRY(csni_file_map_open(&read.map, path, err));
    csn_status status = parse_footer(read.map.bytes, &read.meta, err);
    bool is_stamped = status == CSN_OK && has_stamp(&st, &read.meta);
    if (status == CSN_OK && (check || !is_stamped)) status = check_sum(read.map.bytes, err);
    if (status != CSN_OK) {
        csni_file_map_close(&read.map);
        return status;
    }
    if (!is_stamped) set_stamp(path, &read.meta);
    *out = read;
    return CSN_OK;
}

csn_status csni_cache_read(struct csn_cache *cache, const struct csni_cache_key *key, bool check, struct csni_cache_read *out,
                           struct csn_error *err) {
    char path[CSNI_CACHE_PATH_SIZE];
    struct stat st;
    if (!csni_cache_path(cache, key, ".gsym", path)) return CSN_NONE;
    csn_status status = csni_cache_read_path(path, check, out, err);
    if (status != CSN_OK) return status;
    if (out->meta.id_size != key->size || memcmp(out->meta.id, key->bytes, key->size) != 0) {
        csni_cache_read_close(out);
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "it is the entry of another id");
    }
    if (stat(path, &st) == 0) note_used(path, &st);
    return CSN_OK;
}

void csni_cache_read_close(struct csni_cache_read *read) { csni_file_map_close(&read->map); }

csn_status csni_cache_open_index(struct csni_cache_read *read, const struct csn_index_options *options, struct csn_index **out,
                                 struct csn_error *err) {
    struct csn_index *index;
    csn_status status = csn_index_open_memory(read->map.bytes.ptr, (size_t)read->meta.payload_size, options, &index, err);
    if (status != CSN_OK) {
        csni_cache_read_close(read);
        return status;
    }
    csni_index_own_map(index, &read->map);
    *out = index;
    return CSN_OK;
}

/* ---- writing ---- */

static void put_footer(const struct csni_cache_key *key, uint64_t payload_size, const struct csni_cache_source *source,
                       size_t path_size, uint32_t flags, uint64_t settings, uint8_t footer[FOOTER_SIZE]) {
    memset(footer, 0, FOOTER_SIZE);
    memcpy(footer + F_MAGIC, MAGIC, sizeof MAGIC);
    csni_put32(footer + F_VERSION, ENTRY_VERSION, false);
    csni_put32(footer + F_FLAGS, flags | (key->is_htlhash ? CSN_CACHE_HTLHASH : 0), false);
    csni_put64(footer + F_PAYLOAD_SIZE, payload_size, false);
    csni_put64(footer + F_MADE, now_seconds(), false);
    csni_put64(footer + F_SOURCE_SIZE, source->size, false);
    csni_put64(footer + F_SOURCE_MODIFIED, source->modified_ns, false);
    memcpy(footer + F_HTLHASH, source->htlhash, sizeof source->htlhash);
    memcpy(footer + F_ID, key->bytes, key->size);
    csni_put32(footer + F_ID_SIZE, (uint32_t)key->size, false);
    csni_put32(footer + F_PATH_SIZE, (uint32_t)path_size, false);
    csni_put64(footer + F_SETTINGS, settings, false);
    csni_put64(footer + F_LIBRARY, library_hash(), false);
}

static uint64_t sum_of_parts(struct csni_span index, const char *path, size_t path_size, const uint8_t *footer) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, index.ptr, index.size);
    XXH3_64bits_update(&state, path, path_size);
    XXH3_64bits_update(&state, footer, F_SUM);
    return XXH3_64bits_digest(&state);
}

static csn_status write_entry(struct csni_file_output *file, struct csni_span index, const char *path, size_t path_size,
                              const uint8_t *footer, struct csn_error *err) {
    CSNI_TRY(csni_file_output_write(file, 0, index.ptr, index.size, err));
    CSNI_TRY(csni_file_output_write(file, index.size, path, path_size, err));
    CSNI_TRY(csni_file_output_write(file, index.size + path_size, footer, FOOTER_SIZE, err));
    const struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
                                       { .tv_sec = (time_t)(csni_get64(footer + F_MADE, false) - STAMP_AGE_S) } };
    (void)futimens(file->fd, times); /* where it fails, readers compare the checksum */
    return CSN_OK;
}

csn_status csni_cache_publish(struct csn_cache *cache, const struct csni_cache_key *key, struct csni_span index,
                              const struct csni_cache_source *source, uint32_t flags, uint64_t settings, struct csn_error *err) {
    char path[CSNI_CACHE_PATH_SIZE];
    uint8_t footer[FOOTER_SIZE];
    struct csni_file_output file;
    const char *source_path = source->path ? source->path : "";
    size_t path_size = strnlen(source_path, SOURCE_PATH_MAX);
    if (!csni_cache_path(cache, key, ".gsym", path))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the image has no id to keep its index by");
    put_footer(key, index.size, source, path_size, flags, settings, footer);
    csni_put64(footer + F_SUM, sum_of_parts(index, source_path, path_size, footer), false);
    struct csn_error no_folder = CSN_ERROR_INIT;
    const csn_status made = csni_cache_make_folders(cache, path, &no_folder);
    csn_status status = csni_file_output_open(&file, path, cache->alloc, err);
    if (status == CSN_E_IO && made < 0 && err) *err = no_folder; /* the cause: that the file's folder is not there tells less */
    if (status != CSN_OK) return status;
    status = write_entry(&file, index, source_path, path_size, footer, err);
    if (status == CSN_OK) status = csni_file_output_commit(&file, err);
    else csni_file_output_abort(&file);
    if (status != CSN_OK) return status;
    csni_cache_drop_negative(cache, key);
    return CSN_OK;
}
