/* A table of names for each index that is asked for one, made once. */
#define _GNU_SOURCE
#include "stack/stack_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

struct symbol_table {
    const struct csn_index *index;
    uint32_t *slots; /* function + 1, by hash of its name */
    uint32_t mask, function_count;
};

enum { TABLES_MAX = 64 };

static uint32_t hash_symbol(struct csn_str name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++) hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static bool build_symbol_table(const struct csn_index *index, struct symbol_table *out) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    uint32_t size = 16;
    while (size < info.function_count && size < 1u << 30) size *= 2;
    size *= 2;
    uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots) return false;
    *out = (struct symbol_table){ index, slots, size - 1, info.function_count };
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_function function;
        if (csn_index_function(index, i, &function, NULL) != CSN_OK) continue;
        uint32_t at = hash_symbol(function.name) & out->mask;
        while (slots[at]) at = (at + 1) & out->mask;
        slots[at] = i + 1;
    }
    return true;
}

static struct symbol_table *symbol_table_of(struct symbol_tables *tables, const struct csn_index *index) {
    for (size_t i = 0; i < tables->count; i++)
        if (tables->items[i].index == index) return &tables->items[i];
    if (!tables->items) tables->items = calloc(TABLES_MAX, sizeof(*tables->items));
    if (!tables->items) return NULL;
    if (tables->count == TABLES_MAX) free(tables->items[--tables->count].slots);
    struct symbol_table *table = &tables->items[tables->count];
    if (!build_symbol_table(index, table)) return NULL;
    tables->count++;
    return table;
}

void symbol_tables_clear(struct symbol_tables *tables) {
    for (size_t i = 0; i < tables->count; i++) free(tables->items[i].slots);
    free(tables->items);
    *tables = (struct symbol_tables){ NULL, 0 };
}

/* Bytes from a function to the next one: what a kernel prints as its size. */
static uint64_t distance_to_next(const struct symbol_table *table, uint32_t i, const struct csn_function *function) {
    struct csn_function next;
    for (uint32_t k = i + 1; k < table->function_count && k < i + 16; k++)
        if (csn_index_function(table->index, k, &next, NULL) == CSN_OK && next.start > function->start)
            return next.start - function->start;
    return 0;
}

/* `sized`: only functions that end where the site says. */
static uint32_t find_symbol(const struct symbol_table *table, const struct symbol_site *site, bool sized, uint64_t *start) {
    enum { PROBES = 1 << 16 };
    uint32_t found = 0, at = hash_symbol(site->name) & table->mask;
    for (unsigned probe = 0; table->slots[at] && probe < PROBES; at = (at + 1) & table->mask, probe++) {
        struct csn_function function;
        if (csn_index_function(table->index, table->slots[at] - 1, &function, NULL) != CSN_OK) continue;
        if (!same_text(function.name, site->name)) continue;
        uint64_t distance = distance_to_next(table, table->slots[at] - 1, &function);
        if (distance && site->offset > distance) continue;
        if (sized && distance != site->size && function.size != site->size) continue;
        if (found && *start == function.start) continue;
        if (!found++) *start = function.start;
    }
    return found;
}

bool symbol_tables_find(struct symbol_tables *tables, const struct csn_index *index, const struct symbol_site *site,
                        uint64_t *start, uint32_t *count) {
    const struct symbol_table *table = symbol_table_of(tables, index);
    if (!table) return false;
    *count = site->size ? find_symbol(table, site, true, start) : 0;
    if (!*count) *count = find_symbol(table, site, false, start);
    return true;
}
