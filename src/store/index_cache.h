/* What the files of the cache share, and what the layer that converts uses of it. */
#ifndef CSNI_INDEX_CACHE_H
#define CSNI_INDEX_CACHE_H

#include <callsign/cache.h>
#include <callsign/index.h>

#include "base/core/alloc.h"
#include "base/core/file_map.h"
#include "base/core/span.h"

enum { CSNI_CACHE_ID_MAX = 32, CSNI_CACHE_PATH_SIZE = 4096, CSNI_HTLHASH_SIZE = 16 };

struct csn_cache {
    const struct csn_allocator *alloc;
    struct csn_cache_options options;
    char *dir;
    size_t dir_size;        /* with its NUL */
    uint64_t known_bytes;   /* of all entries when they were last counted, and what was published since; 0: not counted.
                             * Atomic */
};

/* Of the converter's sources; only with CSNI_HAVE_SOURCE_HASH, as in builds by CMake. */
extern const char csni_source_hash[17];

/* ---- keys ---- */

struct csni_cache_key {
    uint8_t bytes[CSNI_CACHE_ID_MAX];
    size_t size;
    bool is_htlhash;
};
/* A file on disk as it was when it was converted: to know whether it has changed since. */
struct csni_cache_source {
    const char *path;       /* NULL: unknown */
    uint64_t size, modified_ns;
    uint8_t htlhash[CSNI_HTLHASH_SIZE];
};

void csni_htlhash(struct csni_span file, uint8_t out[CSNI_HTLHASH_SIZE]);
/* By build id, if it has at least two bytes; else by the source's htlhash. */
struct csni_cache_key csni_cache_key_of(const uint8_t *id, size_t id_size, const uint8_t *htlhash);

/* ---- entries ---- */

/* What stands at the end of an entry, after the index. */
struct csni_cache_meta {
    uint32_t flags;            /* CSN_CACHE_ */
    uint64_t payload_size, made;
    uint64_t source_size, source_modified_ns;
    uint8_t htlhash[CSNI_HTLHASH_SIZE];
    uint64_t settings;         /* of the search: a hash that the caller chose */
    uint8_t id[CSNI_CACHE_ID_MAX];
    uint32_t id_size;
    struct csni_span source;   /* its path, within the entry */
};
struct csni_cache_read {
    struct csni_file_map map;
    struct csni_cache_meta meta;
};

/* Maps the entry of a key. CSN_NONE: there is none, or one of another version of the library. CSN_E_FORMAT: it is damaged.
 * `check`: compares the checksum also where nothing suggests a change since it was written. */
csn_status csni_cache_read(struct csn_cache *cache, const struct csni_cache_key *key, bool check, struct csni_cache_read *out,
                           struct csn_error *err);
void csni_cache_read_close(struct csni_cache_read *read); /* a zeroed one is fine */
/* The same by path, without the version and the key. */
csn_status csni_cache_read_path(const char *path, bool check, struct csni_cache_read *out, struct csn_error *err);
/* Opens the index of an entry, which owns the mapping from here on, also after a failure. */
csn_status csni_cache_open_index(struct csni_cache_read *read, const struct csn_index_options *options,
                                 struct csn_index **out, struct csn_error *err);
/* The path of an entry or of what belongs to it. False: too long. */
bool csni_cache_path(const struct csn_cache *cache, const struct csni_cache_key *key, const char *suffix,
                     char out[CSNI_CACHE_PATH_SIZE]);
/* Makes the folders that `path`, within the cache, lies in. CSN_E_IO: one could not be made; `err`, which may be NULL, names the
 * first. */
csn_status csni_cache_make_folders(const struct csn_cache *cache, const char *path, struct csn_error *err);
/* Writes, syncs and renames an entry. */
csn_status csni_cache_publish(struct csn_cache *cache, const struct csni_cache_key *key, struct csni_span index,
                              const struct csni_cache_source *source, uint32_t flags, uint64_t settings, struct csn_error *err);
/* Sum of the whole entry but for its last bytes, which are this sum. */
uint64_t csni_cache_sum(struct csni_span entry);

/* ---- one converter at a time ---- */

struct csni_cache_lock {
    int fd;                 /* -1: not held */
    char path[CSNI_CACHE_PATH_SIZE];
};
/* Waits for the process that has it. The kernel releases it when its process ends, however that happens. CSN_NONE: this
 * file system has no locks, the folder cannot be written, or a signal came; the caller goes on without. */
csn_status csni_cache_lock(struct csn_cache *cache, const struct csni_cache_key *key, struct csni_cache_lock *out);
/* The same without waiting; CSN_NONE also where another process has it. */
csn_status csni_cache_try_lock_path(const char *path, struct csni_cache_lock *out);
void csni_cache_unlock(struct csni_cache_lock *lock);

/* ---- negative entries ---- */

/* Whether nothing was found under these settings a short time ago. */
bool csni_cache_is_negative(struct csn_cache *cache, const struct csni_cache_key *key, uint64_t settings);
void csni_cache_put_negative(struct csn_cache *cache, const struct csni_cache_key *key, uint64_t settings);
void csni_cache_drop_negative(struct csn_cache *cache, const struct csni_cache_key *key);

/* ---- walking ---- */

/* Counts an entry of an index of `bytes` bytes, and removes the least recently used entries if there are more bytes
 * than the limit. */
void csni_cache_note_published(struct csn_cache *cache, uint64_t bytes);
/* Files that killed conversions left beside an entry. The caller has its lock. */
void csni_cache_remove_temporaries(struct csn_cache *cache, const struct csni_cache_key *key);

#endif
