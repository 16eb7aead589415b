/* The memory of the hash table. */
#include "profile/profile_table.h"

void csni_profile_table_deinit(struct csni_profile_table *table) {
    csni_free(table->alloc, table->slots, table->capacity * sizeof *table->slots);
    table->slots = NULL;
    table->capacity = table->count = 0;
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
