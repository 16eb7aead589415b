/* The handle of a cache, its keys and paths. */
#define _GNU_SOURCE
#include "store/index_cache.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "base/hex.h"
#include "base/sha256.h"

enum { NEGATIVE_S_DEFAULT = 600, HTL_PART = 4096, KEY_SIZE_MIN = 2, SUFFIX_MAX = 64 };
static const uint64_t MAX_BYTES_DEFAULT = (uint64_t)16 << 30;

void csn_cache_options_init(struct csn_cache_options *options) { *options = (struct csn_cache_options)CSN_CACHE_OPTIONS_INIT; }

csn_status csn_cache_open(const char *dir, const struct csn_cache_options *given, struct csn_cache **out, struct csn_error *err) {
    struct csn_cache_options options = CSN_CACHE_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_cache_options.reserved", options.reserved, err));
    size_t len = dir ? strlen(dir) : 0;
    if (!len) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the folder of the cache has no name");
    size_t max = CSNI_CACHE_PATH_SIZE - 2 * CSNI_CACHE_ID_MAX - SUFFIX_MAX;
    if (len > max)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the path of the cache has %zu bytes, the limit is %zu", len,
                         max);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_cache *cache = csni_alloc_zeroed(alloc, 1, sizeof *cache);
    if (!cache) return csni_fail_memory(err, sizeof *cache);
    cache->alloc = alloc;
    cache->options = options;
    if (!cache->options.max_bytes) cache->options.max_bytes = MAX_BYTES_DEFAULT;
    if (!cache->options.negative_s) cache->options.negative_s = NEGATIVE_S_DEFAULT;
    cache->dir_size = len + 1;
    cache->dir = csni_alloc(alloc, cache->dir_size);
    if (!cache->dir) {
        csn_cache_close(cache);
        return csni_fail_memory(err, len + 1);
    }
    memcpy(cache->dir, dir, len + 1);
    *out = cache;
    return CSN_OK;
}

void csn_cache_close(struct csn_cache *cache) {
    if (!cache) return;
    csni_free(cache->alloc, cache->dir, cache->dir_size);
    csni_free(cache->alloc, cache, sizeof *cache);
}

const char *csn_cache_dir(const struct csn_cache *cache) { return cache->dir; }

/* ---- keys ---- */

/* OpenTelemetry's hash of a file: head, tail and length; the two parts may overlap. */
void csni_htlhash(struct csni_span file, uint8_t out[CSNI_HTLHASH_SIZE]) {
    struct csni_sha256 hash;
    uint8_t digest[CSNI_SHA256_SIZE], length[8];
    size_t part = file.size < HTL_PART ? file.size : HTL_PART;
    for (unsigned i = 0; i < sizeof length; i++) length[i] = (uint8_t)((uint64_t)file.size >> (56 - 8 * i));
    csni_sha256_init(&hash);
    if (part) {
        csni_sha256_add(&hash, file.ptr, part);
        csni_sha256_add(&hash, file.ptr + file.size - part, part);
    }
    csni_sha256_add(&hash, length, sizeof length);
    csni_sha256_finish(&hash, digest);
    memcpy(out, digest, CSNI_HTLHASH_SIZE);
}

struct csni_cache_key csni_cache_key_of(const uint8_t *id, size_t id_size, const uint8_t *htlhash) {
    struct csni_cache_key key = { .is_htlhash = id_size < KEY_SIZE_MIN };
    const uint8_t *from = key.is_htlhash ? htlhash : id;
    key.size = key.is_htlhash ? (htlhash ? CSNI_HTLHASH_SIZE : 0) : id_size < sizeof key.bytes ? id_size : sizeof key.bytes;
    if (key.size) memcpy(key.bytes, from, key.size);
    return key;
}

bool csni_cache_path(const struct csn_cache *cache, const struct csni_cache_key *key, const char *suffix,
                     char out[CSNI_CACHE_PATH_SIZE]) {
    char hex[2 * CSNI_CACHE_ID_MAX + 1];
    if (key->size < KEY_SIZE_MIN) return false;
    csni_hex_text(key->bytes, key->size, hex);
    int len = snprintf(out, CSNI_CACHE_PATH_SIZE, "%s/%.2s/%s%s", cache->dir, hex, hex + 2, suffix);
    return len > 0 && len < CSNI_CACHE_PATH_SIZE;
}

csn_status csni_cache_make_folders(const struct csn_cache *cache, const char *path, struct csn_error *err) {
    char parent[CSNI_CACHE_PATH_SIZE], what[sizeof parent + 32];
    csn_status status = CSN_OK;
    size_t dir_len = cache->dir_size - 1;
    for (size_t i = 1; path[i]; i++) {
        if (path[i] != '/') continue;
        memcpy(parent, path, i);
        parent[i] = 0;
        /* Folders above the cache as others make them; the cache is its owner's. One may be there all the same, and those in it
         * fail for want of the first. */
        if (mkdir(parent, i >= dir_len ? 0700 : 0777) == 0 || errno == EEXIST || status < 0) continue;
        const int os_error = errno;
        snprintf(what, sizeof what, "cannot make the folder %s", parent);
        status = csni_fail_os(err, os_error, what);
    }
    return status;
}
