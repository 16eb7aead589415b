/* Open indexes: who has which, and who waits for which. */
#define _GNU_SOURCE
#include "store/index_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <callsign/names.h>
#include <callsign/open.h>

#include "base/text.h"
#include "base/waiting.h"
#include "store/conversion.h"
#include "store/name_cache.h"

enum { BUCKETS = 4096, KEY_SIZE = ID_TEXT_SIZE + DEBUG_ID_SIZE + NAME_SIZE, WHY_SIZE = 256 };

enum slot_state { SLOT_OPENING, SLOT_READY };

/* What is known about one key. */
struct slot {
    struct symbols symbols;      /* first: pool_release() gets its address */
    char key[KEY_SIZE];
    enum slot_state state;
    enum pool_status status;     /* of a ready slot */
    char why[WHY_SIZE];
    uint32_t users;
    bool is_stale;               /* to be freed by its last user */
    uint64_t generation;
    time_t checked;
    struct slot *next;           /* in the bucket */
    struct slot *older, *newer;  /* by last use */
};

struct index_pool {
    struct index_pool_options options;
    struct conversion *conversion;
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct slot *buckets[BUCKETS];
    struct slot oldest;          /* a ring of all slots: oldest.newer is the least recently used */
    uint64_t generation;         /* of the store's files */
    struct pool_counts counts;
};

int index_pool_open(const struct index_pool_options *options, struct index_pool **out, char *why, size_t why_size) {
    struct index_pool *pool = calloc(1, sizeof(*pool));
    if (!pool) return -1;
    pool->options = *options;
    pool->oldest.older = pool->oldest.newer = &pool->oldest;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ready, NULL);
    if (conversion_open(options, &pool->conversion, why, why_size) == 0) {
        *out = pool;
        return 0;
    }
    index_pool_close(pool);
    return -1;
}

static void free_slot(struct slot *slot) {
    csn_index_close(slot->symbols.index);
    name_cache_destroy(slot->symbols.names);
    free(slot);
}

void index_pool_close(struct index_pool *pool) {
    if (!pool) return;
    for (struct slot *slot = pool->oldest.newer; slot != &pool->oldest;) {
        struct slot *next = slot->newer;
        free_slot(slot);
        slot = next;
    }
    conversion_close(pool->conversion);
    pthread_cond_destroy(&pool->ready);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* ---- the table; all of it with the lock ---- */

static struct slot **bucket_of(struct index_pool *pool, const char *key) {
    return &pool->buckets[(text_hash(key, strlen(key)) >> 20) % BUCKETS];
}

static void take_from_ring(struct slot *slot) {
    slot->older->newer = slot->newer;
    slot->newer->older = slot->older;
}

static void put_newest(struct index_pool *pool, struct slot *slot) {
    slot->older = pool->oldest.older;
    slot->newer = &pool->oldest;
    slot->older->newer = slot->newer->older = slot;
}

static void remove_slot(struct index_pool *pool, struct slot *slot) {
    struct slot **at = bucket_of(pool, slot->key);
    while (*at != slot) at = &(*at)->next;
    *at = slot->next;
    take_from_ring(slot);
    pool->counts.open--;
    slot->is_stale = true;
    if (slot->users == 0) free_slot(slot);
}

static void close_oldest(struct index_pool *pool) {
    struct slot *slot = pool->oldest.newer;
    while (pool->counts.open > pool->options.max_open && slot != &pool->oldest) {
        struct slot *newer = slot->newer;
        if (slot->users == 0 && slot->state == SLOT_READY) remove_slot(pool, slot);
        slot = newer;
    }
}

static struct slot *find_slot(struct index_pool *pool, const char *key) {
    struct slot *slot = *bucket_of(pool, key);
    while (slot && strcmp(slot->key, key) != 0) slot = slot->next;
    return slot;
}

static struct slot *add_slot(struct index_pool *pool, const char *key) {
    struct slot *slot = calloc(1, sizeof(*slot)), **bucket = bucket_of(pool, key);
    if (!slot) return NULL;
    snprintf(slot->key, sizeof(slot->key), "%s", key);
    slot->next = *bucket;
    *bucket = slot;
    put_newest(pool, slot);
    pool->counts.open++;
    return slot;
}

/* ---- opening; without the lock ---- */

static time_t clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

/* The cache knows a name by where the index has it. Those of BSYM are put together anew for each answer, all in one place. */
static bool has_lasting_names(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.format != CSN_FORMAT_BSYM;
}

static void fill_slot(struct index_pool *pool, struct slot *slot, const struct symbols_key *key) {
    slot->status = conversion_open_symbols(pool->conversion, key, &slot->symbols, slot->why, sizeof(slot->why));
    if (slot->status == POOL_OK && has_lasting_names(slot->symbols.index)) slot->symbols.names = name_cache_create();
}

static bool is_outdated(struct index_pool *pool, const struct slot *slot) {
    if (pool_status_is_passing(slot->status)) return slot->checked + 1 < clock_s() || slot->generation != pool->generation;
    return slot->generation != pool->generation || slot->checked + (time_t)pool->options.refresh_s < clock_s();
}

static void key_text(const struct symbols_key *key, char out[KEY_SIZE]) {
    snprintf(out, KEY_SIZE, "%s|%s|%s", key->build_id, key->debug_id, key->name);
}

static enum pool_status use_slot(struct index_pool *pool, struct slot *slot, struct symbols **out, char *why, size_t why_size) {
    take_from_ring(slot);
    put_newest(pool, slot);
    if (slot->status == POOL_OK) {
        slot->users++;
        *out = &slot->symbols;
    } else {
        snprintf(why, why_size, "%s", slot->why);
    }
    return slot->status;
}

/* Opens what a new slot is for, while others wait. */
static void open_slot(struct index_pool *pool, struct slot *slot, const struct symbols_key *key) {
    slot->state = SLOT_OPENING;
    slot->generation = pool->generation;
    slot->users++;
    pool->counts.misses++;
    pthread_mutex_unlock(&pool->lock);
    fill_slot(pool, slot, key);
    pthread_mutex_lock(&pool->lock);
    slot->users--;
    slot->state = SLOT_READY;
    slot->checked = clock_s();
    pool->counts.failures += slot->status == POOL_FAILED;
    pthread_cond_broadcast(&pool->ready);
}

/* Somebody else opens it, and may be fetching it. False: too many wait already. */
static bool wait_for_slot(struct index_pool *pool, const char *text, struct slot **slot) {
    if (!waiting_begin()) return false;
    for (; *slot && (*slot)->state == SLOT_OPENING; *slot = find_slot(pool, text)) pthread_cond_wait(&pool->ready, &pool->lock);
    waiting_end();
    return true;
}

enum pool_status pool_acquire(struct index_pool *pool, const struct symbols_key *key, bool may_block,
                              struct symbols **out, char *why, size_t why_size) {
    char text[KEY_SIZE];
    key_text(key, text);
    pthread_mutex_lock(&pool->lock);
    enum pool_status status = POOL_WOULD_BLOCK;
    struct slot *slot = find_slot(pool, text);
    if (slot && slot->state == SLOT_OPENING && may_block && !wait_for_slot(pool, text, &slot)) {
        snprintf(why, why_size, "too many requests wait for upstreams (fetch-workers)");
        status = POOL_UNREACHABLE;
        may_block = false;
    }
    if (slot && slot->state == SLOT_READY && is_outdated(pool, slot) && may_block) {
        remove_slot(pool, slot);
        slot = NULL;
    }
    if (slot && slot->state == SLOT_READY && !is_outdated(pool, slot)) {
        pool->counts.hits++;
        status = use_slot(pool, slot, out, why, why_size);
    } else if (may_block) {
        status = POOL_BROKEN;
        slot = add_slot(pool, text);
        if (slot) {
            open_slot(pool, slot, key);
            status = use_slot(pool, slot, out, why, why_size);
            close_oldest(pool);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

void pool_release(struct index_pool *pool, struct symbols *symbols) {
    if (!symbols) return;
    struct slot *slot = (struct slot *)symbols;
    pthread_mutex_lock(&pool->lock);
    slot->users--;
    if (slot->is_stale && slot->users == 0) free_slot(slot);
    pthread_mutex_unlock(&pool->lock);
}

void pool_refresh(struct index_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->generation++;
    pthread_mutex_unlock(&pool->lock);
}

void pool_get_counts(struct index_pool *pool, struct pool_counts *out) {
    pthread_mutex_lock(&pool->lock);
    *out = pool->counts;
    pthread_mutex_unlock(&pool->lock);
    conversion_get_counts(pool->conversion, &out->conversions, &out->waiting);
}

enum pool_status pool_index_file(struct index_pool *pool, const struct symbols_key *key, char *path, size_t path_size,
                                 uint64_t *bytes, char *why, size_t why_size) {
    return conversion_index_file(pool->conversion, key, path, path_size, bytes, why, why_size);
}

enum pool_status pool_breakpad_file(struct index_pool *pool, const struct symbols_key *key, char *path, size_t path_size, char *why,
                                    size_t why_size) {
    return conversion_breakpad_file(pool->conversion, key, path, path_size, why, why_size);
}

/* ---- names ---- */

static bool grow_scratch(struct name_scratch *scratch, size_t size) {
    if (size <= scratch->size) return true;
    char *grown = realloc(scratch->ptr, size);
    if (!grown) return false;
    scratch->ptr = grown;
    scratch->size = size;
    return true;
}

struct csn_str symbols_name(struct symbols *symbols, const struct csn_frame *frame, struct name_scratch *scratch) {
    struct csn_str name = frame->name;
    bool is_mangled = name.len > 2 && (name.ptr[0] == '_' || name.ptr[0] == '?' || name.ptr[0] == '$' ||
                                       name.ptr[0] == '.' || name.ptr[0] == '@');
    if (!is_mangled || (symbols->names && name_cache_find(symbols->names, name, &name))) return name;
    size_t size = csn_index_frame_name(symbols->index, frame, scratch->ptr, scratch->size);
    if (size >= scratch->size) {
        if (!grow_scratch(scratch, size + 256)) return frame->name;
        size = csn_index_frame_name(symbols->index, frame, scratch->ptr, scratch->size);
        if (size >= scratch->size) return frame->name;
    }
    struct csn_str demangled = { scratch->ptr, size };
    if (symbols->names) name_cache_add(symbols->names, frame->name, demangled, &demangled);
    return demangled;
}
