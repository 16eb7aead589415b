/* Text that was made of frames before, kept within a bound: the same frames come again and again in a stream of stacks. The
 * newest text takes the place of the oldest one. */
#ifndef CALLSIGN_CLI_TEXT_CACHE_H
#define CALLSIGN_CLI_TEXT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/index.h>

/* What a text was made of. */
struct text_key {
    const struct csn_frame *frames;
    uint64_t addr;
    uint32_t module;
};
struct kept_text {
    struct text_key key;
    uint32_t size, mark; /* of the text that follows; what its writer wants to know again */
};

struct text_slot;
struct text_cache {
    struct text_slot *slots; /* NULL: nothing is kept */
    size_t bucket_mask;
    char *ring;
    size_t ring_size;
    uint64_t head, floor;    /* bytes ever kept; what stands before the floor is forgotten */
    uint64_t epoch;
};

/* False: no memory; the cache keeps nothing then. */
bool text_cache_init(struct text_cache *cache, uint64_t bytes);
void text_cache_deinit(struct text_cache *cache);

/* Forgets all, unless the epoch is still the same. */
void text_cache_enter(struct text_cache *cache, uint64_t epoch);

/* Asks the memory for what text_cache_find() will read: first, early, for where the text is, then for the text. */
void text_cache_expect(const struct text_cache *cache, const struct text_key *key);
void text_cache_expect_text(const struct text_cache *cache, const struct text_key *key);
/* NULL: it is not there. It lives until something is kept. */
const struct kept_text *text_cache_find(const struct text_cache *cache, const struct text_key *key);
static inline const char *kept_text_bytes(const struct kept_text *text) { return (const char *)(text + 1); }
void text_cache_keep(struct text_cache *cache, const struct text_key *key, const char *text, size_t size, uint32_t mark);

#endif
