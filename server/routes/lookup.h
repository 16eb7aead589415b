/* Looking up addresses in the symbols of an image, for all protocols. */
#ifndef CALLSIGN_SERVER_LOOKUP_H
#define CALLSIGN_SERVER_LOOKUP_H

#include "http/http.h"
#include "store/index_pool.h"

/* Memory that is kept from one address to the next. */
struct lookup {
    struct csn_frame_ref refs[CSN_INLINE_DEPTH_MAX + 1];
    struct csn_frame frames[CSN_INLINE_DEPTH_MAX + 1]; /* found.frame_count of them, innermost first */
    struct csn_lookup found;
    struct csn_error error;
    char path[4096];
    struct lookup *next;   /* in the list of those that nobody uses */
    char piece[64 * 1024]; /* of a name that the index keeps in pieces */
    struct name_scratch scratch;
};
struct lookup *lookup_create(void); /* NULL: no memory */
void lookup_destroy(struct lookup *lookup); /* NULL is fine */
csn_status lookup_address(struct lookup *lookup, const struct symbols *symbols, uint64_t addr);
/* What the index calls an address of the image. */
static inline uint64_t symbols_index_address(const struct symbols *symbols, uint64_t addr) {
    return addr - symbols->linked_at + symbols->image_base;
}
/* The address of the image that the index calls `addr`. */
static inline uint64_t symbols_image_address(const struct symbols *symbols, uint64_t addr) {
    return addr - symbols->image_base + symbols->linked_at;
}
/* The source file of frame `i`; empty: unknown. */
struct csn_str lookup_path(struct lookup *lookup, size_t i);
struct csn_str lookup_name(struct lookup *lookup, struct symbols *symbols, size_t i);

/* What is missing in the last answer, which had this status; NULL: nothing. */
const char *lookup_reason(const struct lookup *lookup, csn_status status);
/* A module that is named by one text: a build id, or a debug id where it has 33 digits or dashes. */
bool symbols_key_of_id(const char *text, size_t size, struct symbols_key *out);
/* pool_acquire() by the build id of `key`, and where that has none, or nothing is known by it, by the debug id:
 * Breakpad files need not have the build id. Waits. */
enum pool_status symbols_acquire(struct index_pool *pool, const struct symbols_key *key, struct symbols **out,
                                 char *why, size_t why_size);

/* The object of `callsign lookup --json`: {"address":...,"frames":[...],"reason":...}. */
void lookup_put_json(struct lookup *lookup, struct symbols *symbols, uint64_t addr, csn_status status, struct text *out);
void lookup_put_frames(struct lookup *lookup, struct symbols *symbols, struct text *out);

#endif
