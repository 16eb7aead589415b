/* Stacks by the text of their chains: 24 bytes for each distinct one, whatever its length. */
#ifndef CALLSIGN_CLI_CHAIN_CACHE_H
#define CALLSIGN_CLI_CHAIN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 128 bits of a hash: two texts of a profile do not share it by chance. */
struct chain_key {
    uint64_t low, high;
};
struct chain_key chain_key_of(const char *text, size_t size);
/* Something beside the text that decides what a chain means. */
void chain_key_add(struct chain_key *key, uint64_t value);

/* All zeros at first. */
struct chain_cache {
    struct chain_slot {
        struct chain_key key;
        uint32_t stack_and_1;    /* 0: free */
    } *slots;
    size_t capacity, count;
};

bool chain_cache_find(const struct chain_cache *cache, const struct chain_key *key, uint32_t *out_stack);
/* A key that it does not have. False: no memory. */
bool chain_cache_add(struct chain_cache *cache, const struct chain_key *key, uint32_t stack);
void chain_cache_deinit(struct chain_cache *cache);

#endif
