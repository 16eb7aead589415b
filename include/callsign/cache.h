/* Callsign: the cache of converted indexes, a folder that processes share.
 *
 * An entry is an index file, stored by build id as DIR/ab/cdef....gsym; of a file without a build id, by its htlhash
 * (SHA-256 of the first and last 4096 bytes and the size). Entries appear whole, by rename, and carry a checksum: a
 * damaged entry is never used, and the next conversion replaces it. One process converts an image at a time; the
 * others wait for it. csn_opener of callsign/open.h fills the cache and reads it. */
#ifndef CALLSIGN_CACHE_H
#define CALLSIGN_CACHE_H

#include <stdbool.h>

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open cache. Any number of threads and processes may use the same folder, and any number of threads one handle. */
struct csn_cache;

struct csn_cache_options {
    size_t struct_size;                    /* set by CSN_CACHE_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the cache */
    uint64_t max_bytes;                    /* when entries take more, the least recently used are removed until 4/5 of
                                            * it are left. 0: 16 GiB */
    uint32_t negative_s;                   /* seconds for which a module that was not found is not searched again on
                                            * servers. 0: 600 */
    uint32_t reserved;
};
#define CSN_CACHE_OPTIONS_INIT CSN_SIZED_INIT(csn_cache_options)
CSN_API void csn_cache_options_init(struct csn_cache_options *options);

/* Opens the cache in the folder `dir`, which is created with the first entry. `options` may be NULL. The caller
 * releases *out with csn_cache_close().
 * CSN_OK; CSN_E_ARGUMENT: `dir` is empty or too long; CSN_E_UNSUPPORTED: unknown fields; CSN_E_MEMORY. */
CSN_API csn_status csn_cache_open(const char *dir, const struct csn_cache_options *options, struct csn_cache **out,
                                  struct csn_error *err);
CSN_API void csn_cache_close(struct csn_cache *cache); /* `cache` may be NULL */
/* Returns the folder, as it was given. */
CSN_API const char *csn_cache_dir(const struct csn_cache *cache);

enum {
    CSN_CACHE_HTLHASH = 1,     /* `id` is the htlhash of the source, which has no build id */
    CSN_CACHE_SYMBOLS_ONLY = 2 /* the source had no debug information when it was converted */
};

/* One entry. The strings and the id are valid during the callback. */
struct csn_cache_entry {
    csn_status status;       /* CSN_OK; below 0: it is damaged, `text` says how */
    uint32_t flags;          /* CSN_CACHE_ */
    const char *path;        /* of the entry */
    const char *source;      /* path of the file that was converted; empty: unknown */
    const char *text;        /* why it is damaged; otherwise empty */
    const uint8_t *id;       /* build id or htlhash; of a damaged entry, as its path tells */
    size_t id_size;
    uint64_t file_size;      /* bytes of the entry */
    uint64_t made;           /* when it was made, in seconds since 1970 */
    uint64_t used;           /* when it was used last, to the hour */
    uint64_t reserved[2];
};
/* Called for each entry. Return false to stop. */
typedef bool csn_cache_callback(void *context, const struct csn_cache_entry *entry);

enum { CSN_CACHE_CHECK = 1 /* read each entry and compare its checksum */ };

/* Calls `callback` for every entry, ordered by id. flags: CSN_CACHE_CHECK. A folder that does not exist has no entry.
 * CSN_OK; CSN_E_UNSUPPORTED: unknown flags; CSN_E_IO: the folder cannot be read; CSN_E_MEMORY.
 * Cost: opens every entry; with CSN_CACHE_CHECK, reads it. */
CSN_API csn_status csn_cache_list(struct csn_cache *cache, uint32_t flags, csn_cache_callback *callback, void *context,
                                  struct csn_error *err);

struct csn_cache_pruned {
    uint64_t entries, bytes;           /* that were removed */
    uint64_t entries_left, bytes_left;
    uint64_t leftovers;                /* files of conversions that were killed, and expired negative entries */
    uint64_t reserved[3];
};
/* Removes damaged entries and the least recently used ones until the rest takes at most `max_bytes`, and files that
 * killed processes left. Entries that other processes have mapped stay valid for them. *out may be NULL.
 * CSN_OK; CSN_E_IO; CSN_E_MEMORY. */
CSN_API csn_status csn_cache_prune(struct csn_cache *cache, uint64_t max_bytes, struct csn_cache_pruned *out,
                                   struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
