/* Texts follow each other in a ring, each after what it was made of; a table of buckets says where. */
#define _GNU_SOURCE
#include "ui/text_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BUCKET = 4, BYTES_PER_SLOT = 64, RING_MIN = 1 << 16, TEXT_SHARE = 16, ALIGNMENT = 8 };

struct text_slot {
    uint64_t at;             /* of all bytes ever kept, plus 1; 0: free */
    uint32_t place;          /* in the ring, in units of the alignment */
    uint32_t tag;
};

/* Zeroed, and read here and there: huge pages save a miss in the page tables with each miss in the processor's caches. */
static void *big_block(size_t size) {
    enum { HUGE_PAGE = 2 << 20 };
    char *block = calloc(1, size);
#ifdef MADV_HUGEPAGE
    size_t head = (HUGE_PAGE - (uintptr_t)block % HUGE_PAGE) % HUGE_PAGE;
    if (block && size >= head + HUGE_PAGE) (void)madvise(block + head, size - head - (size - head) % HUGE_PAGE, MADV_HUGEPAGE);
#endif
    return block;
}

bool text_cache_init(struct text_cache *cache, uint64_t bytes) {
    *cache = (struct text_cache){ .epoch = 0 };
    uint64_t share = bytes / 5 * 4, limit = UINT32_MAX;
    size_t ring = (size_t)(share < RING_MIN ? RING_MIN : share > limit ? limit : share) / ALIGNMENT * ALIGNMENT;
    size_t buckets = 1;
    while (buckets * 2 * BUCKET * BYTES_PER_SLOT <= ring) buckets *= 2;
    cache->ring = big_block(ring);
    cache->slots = big_block(buckets * BUCKET * sizeof(*cache->slots));
    if (!cache->ring || !cache->slots) {
        text_cache_deinit(cache);
        return false;
    }
    cache->ring_size = ring;
    cache->bucket_mask = buckets - 1;
    return true;
}

void text_cache_deinit(struct text_cache *cache) {
    free(cache->ring);
    free(cache->slots);
    *cache = (struct text_cache){ .epoch = 0 };
}

void text_cache_enter(struct text_cache *cache, uint64_t epoch) {
    if (cache->epoch == epoch) return;
    cache->epoch = epoch;
    cache->floor = cache->head;
}

static uint64_t hash_key(const struct text_key *key) {
    uint64_t hash = ((uint64_t)(uintptr_t)key->frames >> 3) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ key->addr ^ (uint64_t)key->module << 48) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static struct text_slot *bucket_of(const struct text_cache *cache, uint64_t hash) {
    return &cache->slots[(hash & cache->bucket_mask) * BUCKET];
}

/* Nothing was written over the text. */
static bool is_there(const struct text_cache *cache, const struct text_slot *slot) {
    return slot->at > cache->floor && slot->at - 1 + cache->ring_size >= cache->head;
}

static const struct kept_text *text_at(const struct text_cache *cache, const struct text_slot *slot) {
    return (const struct kept_text *)(const void *)(cache->ring + (size_t)slot->place * ALIGNMENT);
}

void text_cache_expect(const struct text_cache *cache, const struct text_key *key) {
    if (cache->slots) __builtin_prefetch(bucket_of(cache, hash_key(key)));
}

void text_cache_expect_text(const struct text_cache *cache, const struct text_key *key) {
    enum { USUAL_SIZE = 192 };
    if (!cache->slots) return;
    uint64_t hash = hash_key(key);
    const struct text_slot *bucket = bucket_of(cache, hash);
    for (size_t i = 0; i < BUCKET; i++) {
        if (bucket[i].tag != (uint32_t)(hash >> 32)) continue;
        const char *text = cache->ring + (size_t)bucket[i].place * ALIGNMENT;
        for (size_t k = 0; k < USUAL_SIZE; k += 64) __builtin_prefetch(text + k);
    }
}

const struct kept_text *text_cache_find(const struct text_cache *cache, const struct text_key *key) {
    if (!cache->slots) return NULL;
    uint64_t hash = hash_key(key);
    const struct text_slot *bucket = bucket_of(cache, hash);
    for (size_t i = 0; i < BUCKET; i++) {
        if (bucket[i].tag != (uint32_t)(hash >> 32) || !is_there(cache, &bucket[i])) continue;
        const struct kept_text *text = text_at(cache, &bucket[i]);
        if (text->key.frames == key->frames && text->key.addr == key->addr && text->key.module == key->module) return text;
    }
    return NULL;
}

void text_cache_keep(struct text_cache *cache, const struct text_key *key, const char *text, size_t size, uint32_t mark) {
    size_t whole = (sizeof(struct kept_text) + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!cache->slots || whole > cache->ring_size / TEXT_SHARE) return;
    size_t place = (size_t)(cache->head % cache->ring_size);
    if (whole > cache->ring_size - place) { /* a text does not go around the corner */
        cache->head += cache->ring_size - place;
        place = 0;
    }
    const struct kept_text kept = { .key = *key, .size = (uint32_t)size, .mark = mark };
    memcpy(cache->ring + place, &kept, sizeof(kept));
    memcpy(cache->ring + place + sizeof(kept), text, size);
    uint64_t hash = hash_key(key);
    struct text_slot *bucket = bucket_of(cache, hash), *slot = bucket;
    for (size_t i = 1; i < BUCKET; i++)
        if (bucket[i].at < slot->at) slot = &bucket[i];
    *slot = (struct text_slot){ cache->head + 1, (uint32_t)(place / ALIGNMENT), (uint32_t)(hash >> 32) };
    cache->head += whole;
}
