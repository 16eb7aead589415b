/* Demangled names: an open-addressing table that only grows, read without a lock. */
#include "store/name_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 14, MOST_NAMES = SLOTS * 3 / 4, MOST_PROBES = 32, LONGEST_KEPT = 16384 };

struct kept_name {
    const char *stored;
    size_t size;
    char text[];
};
typedef _Atomic(struct kept_name *) kept_slot;
struct name_cache {
    _Atomic(kept_slot *) slots; /* SLOTS of them; NULL: no name was added, as of images without mangled names */
    pthread_mutex_t lock;       /* of writers */
    size_t count;
};

struct name_cache *name_cache_create(void) {
    struct name_cache *cache = calloc(1, sizeof(*cache));
    if (cache) pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void name_cache_destroy(struct name_cache *cache) {
    if (!cache) return;
    kept_slot *slots = atomic_load_explicit(&cache->slots, memory_order_relaxed);
    for (size_t i = 0; slots && i < SLOTS; i++) free(atomic_load_explicit(&slots[i], memory_order_relaxed));
    free(slots);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static size_t first_slot(const char *stored) { return (size_t)(((uintptr_t)stored * 0x9e3779b97f4a7c15u) >> 40) % SLOTS; }

bool name_cache_find(struct name_cache *cache, struct csn_str stored, struct csn_str *out) {
    size_t slot = first_slot(stored.ptr);
    kept_slot *slots = atomic_load_explicit(&cache->slots, memory_order_acquire);
    for (int probe = 0; slots && probe < MOST_PROBES; probe++, slot = (slot + 1) % SLOTS) {
        const struct kept_name *kept = atomic_load_explicit(&slots[slot], memory_order_acquire);
        if (!kept) return false;
        if (kept->stored != stored.ptr) continue;
        *out = (struct csn_str){ kept->text, kept->size };
        return true;
    }
    return false;
}

static bool add_locked(struct name_cache *cache, struct csn_str stored, struct csn_str name, struct csn_str *out) {
    size_t slot = first_slot(stored.ptr);
    if (cache->count == MOST_NAMES || name.len > LONGEST_KEPT) return false;
    kept_slot *slots = atomic_load_explicit(&cache->slots, memory_order_relaxed);
    if (!slots) {
        slots = calloc(SLOTS, sizeof(*slots));
        if (!slots) return false;
        atomic_store_explicit(&cache->slots, slots, memory_order_release);
    }
    for (int probe = 0; probe < MOST_PROBES; probe++, slot = (slot + 1) % SLOTS) {
        struct kept_name *kept = atomic_load_explicit(&slots[slot], memory_order_relaxed);
        if (kept && kept->stored != stored.ptr) continue;
        if (!kept) {
            kept = malloc(sizeof(*kept) + name.len);
            if (!kept) return false;
            kept->stored = stored.ptr;
            kept->size = name.len;
            memcpy(kept->text, name.ptr, name.len);
            atomic_store_explicit(&slots[slot], kept, memory_order_release);
            cache->count++;
        }
        *out = (struct csn_str){ kept->text, kept->size };
        return true;
    }
    return false;
}

bool name_cache_add(struct name_cache *cache, struct csn_str stored, struct csn_str name, struct csn_str *out) {
    pthread_mutex_lock(&cache->lock);
    bool added = add_locked(cache, stored, name, out);
    pthread_mutex_unlock(&cache->lock);
    return added;
}
