/* A hash table that grows. */
#include "profile/chain_cache.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix_words(uint64_t a, uint64_t b) {
    a = (a ^ b) * 0x9e3779b97f4a7c15u + (b << 29 | b >> 35);
    a ^= a >> 32;
    a *= 0xd6e8feb86659fd93u;
    return a ^ a >> 29;
}

/* Two lanes, each with keys of its own. */
struct chain_key chain_key_of(const char *text, size_t size) {
    uint64_t low = 0x9e3779b97f4a7c15u ^ size, high = 0xd6e8feb86659fd93u + size;
    for (size_t at = 0; at < size; at += 16) {
        uint64_t words[2] = { 0, 0 };
        memcpy(words, text + at, size - at < sizeof(words) ? size - at : sizeof(words));
        low = mix_words(low ^ words[0], 0xa0761d6478bd642fu ^ words[1]);
        high = mix_words(high + words[1], 0xe7037ed1a0b428dbu + words[0]) + low;
    }
    return (struct chain_key){ mix_words(low, 0x8ebc6af09c88c6e3u), mix_words(high, 0x589965cc75374cc3u) };
}

void chain_key_add(struct chain_key *key, uint64_t value) {
    key->low = mix_words(key->low, value ^ 0xa0761d6478bd642fu);
    key->high = mix_words(key->high + value, key->low);
}

static struct chain_slot *slot_of(const struct chain_cache *cache, const struct chain_key *key) {
    for (size_t i = (size_t)key->low & (cache->capacity - 1);; i = (i + 1) & (cache->capacity - 1)) {
        struct chain_slot *slot = &cache->slots[i];
        if (!slot->stack_and_1 || (slot->key.low == key->low && slot->key.high == key->high)) return slot;
    }
}

bool chain_cache_find(const struct chain_cache *cache, const struct chain_key *key, uint32_t *out_stack) {
    if (!cache->capacity) return false;
    const struct chain_slot *slot = slot_of(cache, key);
    if (slot->stack_and_1) *out_stack = slot->stack_and_1 - 1;
    return slot->stack_and_1;
}

static bool grow_cache(struct chain_cache *cache) {
    struct chain_cache grown = { .capacity = cache->capacity ? cache->capacity * 2 : 1024, .count = cache->count };
    grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
    if (!grown.slots) return false;
    for (size_t i = 0; i < cache->capacity; i++)
        if (cache->slots[i].stack_and_1) *slot_of(&grown, &cache->slots[i].key) = cache->slots[i];
    free(cache->slots);
    *cache = grown;
    return true;
}

bool chain_cache_add(struct chain_cache *cache, const struct chain_key *key, uint32_t stack) {
    if (cache->count >= cache->capacity / 2 && !grow_cache(cache)) return false;
    *slot_of(cache, key) = (struct chain_slot){ *key, stack + 1 };
    cache->count++;
    return true;
}

void chain_cache_deinit(struct chain_cache *cache) {
    free(cache->slots);
    *cache = (struct chain_cache){ .slots = NULL };
}
