/* The memory of the hash table. */
#include "profile/profile_table.h"

void csni_profile_table_deinit(struct csni_profile_table *table) {
    csni_free(table->alloc, table->slots, table->capacity * sizeof *table->slots);
    table->slots = NULL;
    table->capacity = table->count = 0;
}

/* What stands behind it in the chain moves up, unless it stands where it is looked for first. */
void csni_profile_table_remove(struct csni_profile_table *table, uint64_t hash, uint32_t number) {
    const size_t mask = table->capacity - 1;
    if (!table->capacity) return;
    size_t at = (uint32_t)(hash ^ hash >> 32) & mask;
    while (table->slots[at] && (uint32_t)table->slots[at] != number + 1) at = (at + 1) & mask;
    if (!table->slots[at]) return;
    for (size_t i = (at + 1) & mask; table->slots[i]; i = (i + 1) & mask) {
        const size_t first = (size_t)(table->slots[i] >> 32) & mask;
        if (((i - first) & mask) < ((i - at) & mask)) continue;
        table->slots[at] = table->slots[i];
        at = i;
    }
    table->slots[at] = 0;
    table->count--;
}

bool csni_profile_table_grow(struct csni_profile_table *table) {
    const size_t capacity = table->capacity ? table->capacity * 2 : 64;
    uint64_t *slots = csni_alloc_zeroed(table->alloc, capacity, sizeof *slots);
    if (!slots) return false;
    for (size_t k = 0; k < table->capacity; k++) {
        if (!table->slots[k]) continue;
        size_t i = (size_t)(table->slots[k] >> 32) & (capacity - 1);
        while (slots[i]) i = (i + 1) & (capacity - 1);
        slots[i] = table->slots[k];
    }
    csni_free(table->alloc, table->slots, table->capacity * sizeof *table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}
