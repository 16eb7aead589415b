/* A hash table of sites. */
#include "symbolicate/site_cache.h"

#include "base/core/file_map.h"
#include "base/core/prefetch.h"
#include "base/hash.h"

/* SITE_BYTES: what is read of a site first. */
enum { FIRST_SLOTS = 1 << 10, ARENA_CHUNK = 1 << 14, SITE_BYTES = 136 };

void csni_site_cache_init(struct csni_site_cache *cache, const struct csn_allocator *alloc) {
    *cache = (struct csni_site_cache){ .alloc = alloc, .slots.alloc = alloc };
    csni_arena_init(&cache->arena, alloc, ARENA_CHUNK);
    cache->arena.read_at_random = true;
}

void csni_site_cache_clear(struct csni_site_cache *cache) {
    csni_arena_deinit(&cache->arena);
    csni_vec_deinit(&cache->slots);
    cache->count = 0;
    cache->incomplete = false;
    cache->generation++;
}

size_t csni_site_cache_bytes(const struct csni_site_cache *cache) {
    return (size_t)cache->arena.total + cache->slots.count * sizeof(*cache->slots.items);
}

uint64_t csni_site_hash(const struct csn_index *index, uint64_t addr, unsigned shift) {
    return csni_hash_u64(addr + shift + (uint64_t)(uintptr_t)index * 0x9e3779b97f4a7c15u);
}

void csni_site_cache_prefetch_slot(const struct csni_site_cache *cache, uint64_t hash) {
    if (cache->slots.count) csni_prefetch(&cache->slots.items[hash & (cache->slots.count - 1)]);
}

void csni_site_cache_prefetch_site(const struct csni_site_cache *cache, uint64_t hash) {
    if (!cache->slots.count) return;
    const struct csni_site_slot *slot = &cache->slots.items[hash & (cache->slots.count - 1)];
    if (slot->hash == hash && slot->site) csni_prefetch_lines(slot->site, SITE_BYTES);
}

static bool grow_slots(struct csni_site_cache *cache) {
    size_t old_count = cache->slots.count, count = old_count ? old_count * 2 : FIRST_SLOTS;
    struct csni_site_slot *old = cache->slots.items;
    struct csni_site_slot *items = csni_alloc_zeroed(cache->alloc, count, sizeof(*items));
    if (!items) return false;
    if (count * sizeof(*items) >= CSNI_HUGE_PAGE) csni_pages_prefer_huge(items, count * sizeof(*items));
    cache->slots.items = items;
    cache->slots.count = cache->slots.capacity = count;
    for (size_t k = 0; k < old_count; k++) {
        if (!old[k].site) continue;
        size_t i = (size_t)old[k].hash & (count - 1);
        while (items[i].site) i = (i + 1) & (count - 1);
        items[i] = old[k];
    }
    csni_free(cache->alloc, old, old_count * sizeof(*old));
    return true;
}

static bool is_site_of(const struct csni_site *site, const struct csn_index *index, uint64_t addr, unsigned shift) {
    return site->addr == addr && site->index == index && site->shift == shift;
}

struct csni_site *csni_site_cache_find(struct csni_site_cache *cache, const struct csn_index *index, uint64_t addr,
                                       unsigned shift, uint64_t hash, struct csni_budget *budget) {
    if (2 * (cache->count + 1) > cache->slots.count && !grow_slots(cache)) return NULL;
    size_t mask = cache->slots.count - 1, i = (size_t)hash & mask;
    for (; cache->slots.items[i].site; i = (i + 1) & mask) {
        const struct csni_site_slot *slot = &cache->slots.items[i];
        if (slot->hash == hash && is_site_of(slot->site, index, addr, shift)) return slot->site;
    }
    struct csni_site *site = csni_arena_alloc(&cache->arena, sizeof(*site));
    if (!site || csni_site_locate(index, addr, shift, &cache->arena, budget, site) < 0) return NULL;
    if (csni_budget_is_exhausted(budget)) cache->incomplete = true;
    cache->slots.items[i] = (struct csni_site_slot){ hash, site };
    cache->count++;
    return site;
}
