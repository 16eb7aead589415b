/* Where a compiled abbreviation is kept: found by a hash of its bytes. */
#include "dwarf/dwarf_abbrev_cache.h"

#include "base/hash.h"

enum {
    BITS_MIN = 8, BITS_MAX = 13, /* a Linux kernel has some thousand different ones */
    BYTES = 8,                   /* of one of them, roughly */
    SIZE_MAX_KEPT = 256
};

csn_status csni_abbrev_cache_init(struct csni_abbrev_cache *cache, uint64_t section_size, const struct csn_allocator *alloc,
                                  struct csn_error *err) {
    cache->bits = BITS_MIN;
    while (cache->bits < BITS_MAX && (uint64_t)1 << cache->bits < section_size / BYTES) cache->bits++;
    size_t count = (size_t)1 << cache->bits;
    cache->places = csni_alloc_present(alloc, count, sizeof *cache->places);
    return cache->places ? CSN_OK : csni_fail_memory(err, count * sizeof *cache->places);
}

void csni_abbrev_cache_deinit(struct csni_abbrev_cache *cache, const struct csn_allocator *alloc) {
    csni_free(alloc, cache->places, ((size_t)1 << cache->bits) * sizeof *cache->places);
    cache->places = NULL;
}

/* Hashes up to the first two bytes of 0, seven bytes at a time. A constant of 0 before the end makes that one byte less than
 * all there is, which is as good for finding a place. */
struct csni_known_abbrev *csni_abbrev_cache_place(const struct csni_abbrev_cache *cache, const uint8_t *p,
                                                  const uint8_t *end) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), seven = UINT64_MAX >> 8;
    uint64_t hash = 0;
    if (end - p > SIZE_MAX_KEPT) end = p + SIZE_MAX_KEPT;
    for (; end - p >= 8; p += 7) {
        uint64_t w = csni_get64(p, false), zeros = csni_zero_bytes(w), pair = zeros & zeros >> 8;
        /* Bytes before the pair; pair & -pair is 0x80 in its first byte. */
        if (pair) w &= ((pair & (0 - pair)) - 1) >> 7;
        hash = (hash ^ (w & seven)) * factor;
        hash ^= hash >> 29;
        if (pair) return &cache->places[hash * factor >> (64 - cache->bits)];
    }
    return NULL;
}
