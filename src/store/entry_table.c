/* The entries of a store by path, build id and name: each has a place in up to four hash tables. */
#include "base/hash.h"
#include "store/index_store.h"

enum { SLOTS_MIN = 64 };

/* ---- hashes ---- */

static uint32_t fold(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

static uint32_t hash_text(struct csn_str text) { return fold(csni_hash_bytes(text.ptr, text.len)); }

uint32_t csni_store_path_hash(struct csn_str path) { return hash_text(path); }

uint32_t csni_store_module_hash(struct csn_str image, const struct csni_store_id *id) {
    return hash_text(image) * 31 + hash_text((struct csn_str){ (const char *)id->bytes, id->size });
}

uint32_t csni_store_id_hash(const struct csni_store_id *id) {
    return hash_text((struct csn_str){ (const char *)id->bytes, CSNI_STORE_ID_MIN });
}

uint32_t csni_store_name_hash(struct csn_str name) { return hash_text(name); }

uint32_t csni_store_loose_hash(struct csn_str name) {
    const size_t size = csni_module_name_root(name);
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ (uint8_t)(name.ptr[i] == '-' ? '_' : name.ptr[i])) * 16777619u;
    return hash ^ hash >> 15;
}

/* False: nobody looks for it by that. */
static bool entry_hash(const struct csni_store_entry *entry, enum csni_store_key key, uint32_t *out) {
    const struct csn_str path = { entry->path, entry->path_len };
    const bool has_name = entry->index && !entry->is_converted;
    switch (key) {
    case CSNI_KEY_PATH: *out = entry->is_converted ? 0 : csni_store_path_hash(path); return !entry->is_converted;
    case CSNI_KEY_MODULE: *out = entry->is_converted ? csni_store_module_hash(path, &entry->id) : 0; return entry->is_converted;
    case CSNI_KEY_ID: *out = csni_store_id_hash(&entry->id); return entry->index && entry->id.size >= CSNI_STORE_ID_MIN;
    case CSNI_KEY_NAME: *out = csni_store_name_hash(entry->stem); return has_name;
    default: *out = csni_store_loose_hash(entry->stem); return has_name;
    }
}

/* ---- the tables ---- */

static struct csni_store_slot *slot_of(const struct csn_store *store, enum csni_store_key key, uint32_t hash) {
    return &store->slots[(size_t)key * store->slot_count + (hash & (store->slot_count - 1))];
}

static void insert(struct csn_store *store, uint32_t number) {
    struct csni_store_entry *entry = &store->entries.items[number];
    for (enum csni_store_key key = 0; key < CSNI_KEY_COUNT; key++) {
        uint32_t hash;
        entry->next[key] = 0;
        if (!entry_hash(entry, key, &hash)) continue;
        struct csni_store_slot *slot = slot_of(store, key, hash);
        if (slot->last) store->entries.items[slot->last - 1].next[key] = number + 1;
        else slot->first = number + 1;
        slot->last = number + 1;
    }
}

void csni_store_rebuild_tables(struct csn_store *store) {
    const size_t slots = (size_t)CSNI_KEY_COUNT * store->slot_count;
    if (slots) memset(store->slots, 0, slots * sizeof *store->slots);
    store->open_count = 0;
    for (size_t i = 0; i < store->entries.count; i++) {
        insert(store, (uint32_t)i);
        store->open_count += store->entries.items[i].index != NULL;
    }
}

bool csni_store_reserve_entry(struct csn_store *store) {
    const size_t need = store->entries.count + 1;
    if (need > UINT32_MAX / 4 || !csni_vec_reserve(&store->entries, need)) return false;
    if (need <= store->slot_count) return true;
    uint32_t count = store->slot_count ? store->slot_count * 2 : SLOTS_MIN;
    struct csni_store_slot *slots = csni_alloc_zeroed(store->alloc, (size_t)CSNI_KEY_COUNT * count, sizeof *slots);
    if (!slots) return false;
    csni_store_free_tables(store);
    store->slots = slots;
    store->slot_count = count;
    csni_store_rebuild_tables(store);
    return true;
}

void csni_store_count_entry(struct csn_store *store) {
    const struct csni_store_entry *entry = &store->entries.items[store->entries.count];
    store->open_count += entry->index != NULL;
    insert(store, (uint32_t)store->entries.count++);
}

void csni_store_free_tables(struct csn_store *store) {
    csni_free(store->alloc, store->slots, (size_t)CSNI_KEY_COUNT * store->slot_count * sizeof *store->slots);
    store->slots = NULL;
    store->slot_count = 0;
}

struct csni_store_entry *csni_store_first(const struct csn_store *store, enum csni_store_key key, uint32_t hash) {
    const uint32_t number = store->slot_count ? slot_of(store, key, hash)->first : 0;
    return number ? &store->entries.items[number - 1] : NULL;
}

struct csni_store_entry *csni_store_next(const struct csn_store *store, enum csni_store_key key,
                                         const struct csni_store_entry *entry) {
    return entry->next[key] ? &store->entries.items[entry->next[key] - 1] : NULL;
}
