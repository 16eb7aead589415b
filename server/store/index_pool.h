/* Open indexes of a store's images. An image without an index is converted, once however many ask, in the store's
 * cache of conversions. Any thread. */
#ifndef CALLSIGN_SERVER_INDEX_POOL_H
#define CALLSIGN_SERVER_INDEX_POOL_H

#include <callsign/index.h>

#include "store/symbol_store.h"

struct index_pool;
struct name_cache;

struct index_pool_options {
    struct symbol_store *store;
    uint32_t max_open;           /* open indexes; the least recently used are closed */
    uint32_t workers;            /* conversions at the same time */
    uint32_t threads;            /* of one conversion */
    uint64_t conversion_bytes;   /* memory of all conversions together */
    uint64_t cache_bytes;        /* of converted indexes on disk */
    bool named_files;            /* conversions read what images name outside the store, too */
    uint32_t refresh_s;          /* after which the store is asked again whether there is something newer or at all */
};
int index_pool_open(const struct index_pool_options *options, struct index_pool **out, char *why, size_t why_size);
void index_pool_close(struct index_pool *pool); /* NULL is fine; nothing may be in use */

/* An image's symbols, in use until pool_release(). */
struct symbols {
    struct csn_index *index;
    uint64_t image_base;         /* module offset + image_base = address of the index */
    uint64_t linked_at;          /* address of the image - linked_at = module offset: of Breakpad files, too, which do not tell */
    struct artifact artifact;    /* the file that they come from */
    struct name_cache *names;
    bool has_lines;
};

/* Which image: its build id, or its debug id and name. */
struct symbols_key {
    char build_id[ID_TEXT_SIZE];
    char debug_id[DEBUG_ID_SIZE];
    char name[NAME_SIZE];
};

enum pool_status {
    POOL_OK,
    POOL_NONE,        /* the store has no symbols of this image */
    POOL_FAILED,      /* it has a file that cannot be used */
    POOL_UNREACHABLE, /* the bucket or an upstream failed */
    POOL_BROKEN,      /* the server's own disk failed, or memory is short */
    POOL_WOULD_BLOCK
};
/* Whether nothing is known of the image, so that another time may have the answer. */
static inline bool pool_status_is_passing(enum pool_status status) { return status == POOL_UNREACHABLE || status == POOL_BROKEN; }

/* `may_block` false: POOL_WOULD_BLOCK unless the answer is known already. `why` says why there are no symbols. */
enum pool_status pool_acquire(struct index_pool *pool, const struct symbols_key *key, bool may_block,
                              struct symbols **out, char *why, size_t why_size);
void pool_release(struct index_pool *pool, struct symbols *symbols);
/* Files of the store have changed. */
void pool_refresh(struct index_pool *pool);

/* Path of the index of an image as a file: the store's own, or the converted one. *bytes receives how much of it is the index. */
enum pool_status pool_index_file(struct index_pool *pool, const struct symbols_key *key, char *path, size_t path_size,
                                 uint64_t *bytes, char *why, size_t why_size);
/* The same for a Breakpad symbol file, made from the image where the store has none. */
enum pool_status pool_breakpad_file(struct index_pool *pool, const struct symbols_key *key, char *path, size_t path_size, char *why,
                                    size_t why_size);

/* The demangled name of a frame; valid until pool_release(), or until the next call with this `scratch`. */
struct name_scratch { char *ptr; size_t size; };
struct csn_str symbols_name(struct symbols *symbols, const struct csn_frame *frame, struct name_scratch *scratch);

struct pool_counts { uint64_t open, hits, misses, conversions, failures, waiting; };
void pool_get_counts(struct index_pool *pool, struct pool_counts *out);

#endif
