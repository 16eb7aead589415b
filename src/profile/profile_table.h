/* A hash table of numbered things: finds the number of an equal one. */
#ifndef CSNI_PROFILE_TABLE_H
#define CSNI_PROFILE_TABLE_H

#include <stdbool.h>

#include "base/core/alloc.h"

/* All zeros but for `alloc` at first. */
struct csni_profile_table {
    uint64_t *slots; /* hash << 32 | number + 1; 0: free */
    size_t capacity, count;
    const struct csn_allocator *alloc;
};

enum { CSNI_PROFILE_NONE = -1 };

typedef bool csni_profile_equal(const void *context, uint32_t number, const void *key);

void csni_profile_table_deinit(struct csni_profile_table *table);
bool csni_profile_table_grow(struct csni_profile_table *table);
/* A number that the table may have. */
void csni_profile_table_remove(struct csni_profile_table *table, uint64_t hash, uint32_t number);

static inline bool csni_profile_table_find(const struct csni_profile_table *table, uint64_t hash, csni_profile_equal *equal,
                                           const void *context, const void *key, uint32_t *out) {
    if (!table->capacity) return false;
    const uint32_t short_hash = (uint32_t)(hash ^ hash >> 32);
    for (size_t i = short_hash & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        const uint64_t slot = table->slots[i];
        if (!slot) return false;
        if (slot >> 32 != short_hash || !equal(context, (uint32_t)slot - 1, key)) continue;
        *out = (uint32_t)slot - 1;
        return true;
    }
}

/* A number that the table does not have. False: no memory. */
static inline bool csni_profile_table_add(struct csni_profile_table *table, uint64_t hash, uint32_t number) {
    if (table->count >= table->capacity / 2 && !csni_profile_table_grow(table)) return false;
    const uint32_t short_hash = (uint32_t)(hash ^ hash >> 32);
    size_t i = short_hash & (table->capacity - 1);
    while (table->slots[i]) i = (i + 1) & (table->capacity - 1);
    table->slots[i] = (uint64_t)short_hash << 32 | (number + 1);
    table->count++;
    return true;
}

#endif
