/* A list of modules with a hash table of their base names. */
#define _GNU_SOURCE
#include "stack/session/module_table.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "ui/growing.h"

static uint32_t hash_module_name(struct csn_str name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++) hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash;
}

static struct csn_str str_of(const char *text) {
    return text ? (struct csn_str){ text, strlen(text) } : (struct csn_str){ "", 0 };
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

void module_table_clear(struct module_table *table) {
    for (uint32_t i = 0; i < table->count; i++) {
        free(table->items[i].name);
        free(table->items[i].index_path);
    }
    table->count = table->range_count = table->ranges_sorted = 0;
    if (table->slots) memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
}

void module_table_deinit(struct module_table *table) {
    module_table_clear(table);
    free(table->items);
    free(table->ranges);
    free(table->slots);
    *table = (struct module_table){ 0 };
}

static void insert_name(struct module_table *table, uint32_t module) {
    struct csn_str base = base_name_of(str_of(table->items[module].name));
    uint32_t *slot = &table->slots[hash_module_name(base) & (table->slot_count - 1)];
    table->items[module].next = *slot;
    *slot = module + 1;
}

static bool grow_table(struct module_table *table) {
    uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
    struct stack_module *items = reallocarray(table->items, capacity, sizeof(*items));
    if (!items) return false;
    table->items = items;
    uint32_t *slots = calloc(capacity * (size_t)2, sizeof(*slots));
    if (!slots) return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = capacity * 2;
    table->capacity = capacity;
    for (uint32_t i = 0; i < table->count; i++) insert_name(table, i);
    return true;
}

static char *copy_of(struct csn_str text) { return text.len ? strndup(text.ptr, text.len) : NULL; }

bool module_table_add(struct module_table *table, const struct module_names *names, uint64_t start, uint64_t end,
                      uint64_t bias, uint32_t *out) {
    if (table->count == MODULES_MAX) return false;
    if (table->count == table->capacity && !grow_table(table)) return false;
    if (!reserve_items(&table->ranges, &table->range_capacity, table->range_count + (size_t)1, sizeof(*table->ranges)))
        return false;
    struct stack_module module = { .name = copy_of(names->name), .index_path = copy_of(names->index), .id = names->id,
                                   .start = start, .end = end, .bias = bias };
    if ((names->name.len && !module.name) || (names->index.len && !module.index_path)) {
        free(module.name);
        free(module.index_path);
        return false;
    }
    table->items[table->count] = module;
    if (start < end) table->ranges[table->range_count++] = (struct module_range){ start, end, end };
    insert_name(table, table->count);
    *out = table->count++;
    return true;
}

/* The exact name goes before a base name, the later module before the earlier. */
uint32_t module_table_find(const struct module_table *table, struct csn_str name) {
    if (!table->slot_count || !name.len) return NO_MODULE;
    enum { PROBES = 256 }; /* of one file that is mapped often, or of an input that makes names collide */
    struct csn_str base = base_name_of(name);
    uint32_t i = table->slots[hash_module_name(base) & (table->slot_count - 1)], found = NO_MODULE;
    for (unsigned probe = 0; i && probe < PROBES; i = table->items[i - 1].next, probe++) {
        struct csn_str own = str_of(table->items[i - 1].name);
        if (same_text(own, name)) return i - 1;
        if (found == NO_MODULE && same_text(base_name_of(own), base)) found = i - 1;
    }
    return found;
}

static int compare_starts(const void *a, const void *b) {
    const struct module_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static uint32_t count_starts_up_to(const struct module_table *table, uint32_t count, uint64_t addr) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table->ranges[middle].start <= addr) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Puts the next range in its place, which is the end where maps are in order. Gives the place. */
static uint32_t insert_range(struct module_table *table) {
    struct module_range range = table->ranges[table->ranges_sorted];
    uint32_t at = count_starts_up_to(table, table->ranges_sorted, range.start);
    memmove(&table->ranges[at + 1], &table->ranges[at], (table->ranges_sorted++ - at) * sizeof(range));
    table->ranges[at] = range;
    return at;
}

static void sort_ranges(struct module_table *table) {
    enum { INSERTED_MOST = 16 };
    uint32_t first = table->ranges_sorted;
    if (table->range_count - table->ranges_sorted > INSERTED_MOST) {
        qsort(table->ranges, table->range_count, sizeof(*table->ranges), compare_starts);
        table->ranges_sorted = table->range_count;
        first = 0;
    }
    while (table->ranges_sorted < table->range_count) {
        uint32_t at = insert_range(table);
        if (at < first) first = at;
    }
    uint64_t reach = first ? table->ranges[first - 1].reach : 0;
    for (uint32_t i = first; i < table->range_count; i++) {
        if (table->ranges[i].end > reach) reach = table->ranges[i].end;
        table->ranges[i].reach = reach;
    }
}

bool module_table_covers(struct module_table *table, uint64_t addr) {
    if (table->ranges_sorted != table->range_count) sort_ranges(table);
    uint32_t low = count_starts_up_to(table, table->range_count, addr);
    return low && addr < table->ranges[low - 1].reach;
}

const struct csn_index *module_table_index(struct module_table *table, struct csn_store *store, uint32_t module,
                                           bool explain) {
    struct stack_module *m = &table->items[module];
    if (m->resolved) return m->index;
    const struct module_names names = { .name = str_of(m->name), .index = str_of(m->index_path), .id = m->id };
    m->index = module_store_find(store, &names, explain);
    m->base = m->index ? module_base_address(m->index) : 0;
    m->first_byte = m->index ? csn_index_image_base(m->index) : 0;
    m->resolved = true;
    m->forgotten = false;
    return m->index;
}

/* What was not found is not searched again. */
void module_table_forget_indexes(struct module_table *table) {
    for (uint32_t i = 0; i < table->count; i++) {
        struct stack_module *m = &table->items[i];
        if (!m->resolved || !m->index) continue;
        m->index = NULL;
        m->resolved = false;
        m->forgotten = true;
    }
}
