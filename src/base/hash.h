/* Hashing: tables in memory, and XXH3-64 as the checksum of cache entries. */
#ifndef CSNI_HASH_H
#define CSNI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t csni_hash_bytes(const void *bytes, size_t size) { return XXH3_64bits(bytes, size); }

static inline uint64_t csni_hash_u64(uint64_t v) {
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93u;
    v ^= v >> 32;
    v *= 0xd6e8feb86659fd93u;
    v ^= v >> 32;
    return v;
}

#endif
