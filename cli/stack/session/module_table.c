/* A list of modules with hash tables of their names. */
#define _GNU_SOURCE
#include "stack/session/module_table.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "ui/growing.h"

/* Steps in one slot: of an input that makes names collide. */
enum { PROBES = 256 };

static uint64_t hash_more(uint64_t hash, const void *bytes, size_t size) {
    const char *at = bytes;
    uint64_t word;
    for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    word = size;
    memcpy((char *)&word + 1, at, size);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static uint32_t hash_module_name(struct csn_str name) { return (uint32_t)hash_more(0, name.ptr, name.len); }

static uint32_t hash_module_build(struct csn_str name, const struct build_id *id) {
    return (uint32_t)hash_more(hash_more(0, name.ptr, name.len), id->bytes, id->size);
}

static struct csn_str str_of(const char *text) {
    return text ? (struct csn_str){ text, strlen(text) } : (struct csn_str){ "", 0 };
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static void free_module(struct stack_module *module) {
    free(module->name);
    free(module->index_path);
}

static void clear_slots(struct module_table *table) {
    if (table->slots) memset(table->slots, 0, (size_t)MODULE_KEYS * table->slot_count * sizeof(*table->slots));
}

void module_table_clear(struct module_table *table) {
    for (uint32_t i = 0; i < table->count; i++) free_module(&table->items[i]);
    table->count = table->named_count = table->range_count = table->ranges_sorted = 0;
    clear_slots(table);
}

void module_table_deinit(struct module_table *table) {
    module_table_clear(table);
    free(table->items);
    free(table->ranges);
    free(table->slots);
    *table = (struct module_table){ 0 };
}

/* ---- the slots ---- */

static uint32_t *slot_of(const struct module_table *table, enum module_key key, uint32_t hash) {
    return &table->slots[(size_t)key * table->slot_count + (hash & (table->slot_count - 1))];
}

static void insert_first(struct module_table *table, enum module_key key, uint32_t hash, uint32_t module) {
    uint32_t *slot = slot_of(table, key, hash);
    table->items[module].next[key] = *slot;
    *slot = module + 1;
}

/* What leads to the module of exactly that name. NULL: there is none. */
static uint32_t *link_of_name(const struct module_table *table, struct csn_str name) {
    uint32_t *link = slot_of(table, MODULE_BY_NAME, hash_module_name(name));
    for (unsigned probe = 0; *link && probe < PROBES; link = &table->items[*link - 1].next[MODULE_BY_NAME], probe++)
        if (same_text(str_of(table->items[*link - 1].name), name)) return link;
    return NULL;
}

/* The one that was named last takes the place of another of its name. */
static void insert_latest(struct module_table *table, uint32_t module) {
    const struct csn_str name = str_of(table->items[module].name);
    uint32_t *link = link_of_name(table, name);
    if (!link) {
        insert_first(table, MODULE_BY_NAME, hash_module_name(name), module);
    } else if (table->items[*link - 1].recency < table->items[module].recency && *link != module + 1) {
        table->items[module].next[MODULE_BY_NAME] = table->items[*link - 1].next[MODULE_BY_NAME];
        *link = module + 1;
    }
}

static void insert_names(struct module_table *table, uint32_t module) {
    const struct stack_module *m = &table->items[module];
    const struct csn_str name = str_of(m->name);
    if (!name.len) return;
    insert_first(table, MODULE_BY_BASE, hash_module_name(base_name_of(name)), module);
    insert_first(table, MODULE_BY_BUILD, hash_module_build(name, &m->id), module);
    insert_latest(table, module);
}

static bool grow_table(struct module_table *table) {
    uint32_t capacity = table->capacity ? table->capacity * 2 : 16;
    struct stack_module *items = reallocarray(table->items, capacity, sizeof(*items));
    if (!items) return false;
    table->items = items;
    uint32_t *slots = calloc(capacity * (size_t)2 * MODULE_KEYS, sizeof(*slots));
    if (!slots) return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = capacity * 2;
    table->capacity = capacity;
    for (uint32_t i = 0; i < table->count; i++) insert_names(table, i);
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
                                   .start = start, .end = end, .bias = bias, .recency = ++table->recency };
    if ((names->name.len && !module.name) || (names->index.len && !module.index_path)) {
        free(module.name);
        free(module.index_path);
        return false;
    }
    table->items[table->count] = module;
    if (start < end) table->ranges[table->range_count++] = (struct module_range){ start, end, end };
    insert_names(table, table->count);
    *out = table->count++;
    return true;
}

/* ---- by name ---- */

/* "/opt/app", "C:\\bin\\app.exe": it says in which folder the file is. */
static bool is_full_path(struct csn_str name) {
    const bool has_drive = name.len > 2 && name.ptr[1] == ':' && (name.ptr[2] == '\\' || name.ptr[2] == '/');
    return name.len && (name.ptr[0] == '/' || name.ptr[0] == '\\' || has_drive);
}

static uint32_t find_exactly(const struct module_table *table, struct csn_str name) {
    const uint32_t *link = link_of_name(table, name);
    return link ? *link - 1 : NO_MODULE;
}

/* Where /lib is a link to /usr/lib, loaders (in lines) and kernels (in lists) call a file by different paths. */
static uint32_t find_with_usr(const struct module_table *table, struct csn_str name) {
    static const char usr[] = "/usr", *const folders[] = { "/lib", "/bin/", "/sbin/" };
    enum { USR = sizeof(usr) - 1, PATH_SIZE = 4096 };
    char path[PATH_SIZE];
    if (name.len > USR && memcmp(name.ptr, usr, USR) == 0 && name.ptr[USR] == '/')
        return find_exactly(table, (struct csn_str){ name.ptr + USR, name.len - USR });
    bool may_be = false;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        may_be |= name.len > strlen(folders[i]) && memcmp(name.ptr, folders[i], strlen(folders[i])) == 0;
    if (!may_be || name.len + USR > sizeof(path)) return NO_MODULE;
    memcpy(path, usr, USR);
    memcpy(path + USR, name.ptr, name.len);
    return find_exactly(table, (struct csn_str){ path, name.len + USR });
}

/* A full path is another module than another one, and than what lines call by the file name alone: that may be any of that name.
 * A list of modules says what is meant. */
static bool may_be_called(const struct stack_module *module, struct csn_str name) {
    return !is_full_path(name) || (!module->named_in && !is_full_path(str_of(module->name)));
}

/* A list of modules tells what a process has, a line may be another one's. Of those in lists, the one added last comes first. */
static uint32_t find_by_base(const struct module_table *table, struct csn_str name) {
    const struct csn_str base = base_name_of(name);
    uint32_t i = *slot_of(table, MODULE_BY_BASE, hash_module_name(base)), found = NO_MODULE;
    for (unsigned probe = 0; i && probe < PROBES; i = table->items[i - 1].next[MODULE_BY_BASE], probe++) {
        const struct stack_module *m = &table->items[i - 1];
        const bool is_older = found != NO_MODULE && m->named_in && m->recency < table->items[found].recency;
        if (is_older || !may_be_called(m, name) || !same_text(base_name_of(str_of(m->name)), base)) continue;
        if (!m->named_in) return i - 1;
        found = i - 1;
    }
    return found;
}

uint32_t module_table_find(const struct module_table *table, struct csn_str name) {
    if (!table->slot_count || !name.len) return NO_MODULE;
    uint32_t found = find_exactly(table, name);
    if (found != NO_MODULE) return found;
    found = find_with_usr(table, name);
    return found == NO_MODULE || table->items[found].named_in ? find_by_base(table, name) : found;
}

uint32_t module_table_find_build(const struct module_table *table, struct csn_str name, const struct build_id *id) {
    if (!table->slot_count || !name.len) return NO_MODULE;
    uint32_t i = *slot_of(table, MODULE_BY_BUILD, hash_module_build(name, id));
    for (unsigned probe = 0; i && probe < PROBES; i = table->items[i - 1].next[MODULE_BY_BUILD], probe++) {
        const struct stack_module *m = &table->items[i - 1];
        if (build_id_equal(&m->id, id) && same_text(str_of(m->name), name)) return i - 1;
    }
    return NO_MODULE;
}

void module_table_name(struct module_table *table, uint32_t module, uint64_t stack) {
    struct stack_module *m = &table->items[module];
    m->named_in = stack;
    m->recency = ++table->recency;
    if (m->name) insert_latest(table, module);
}

void module_table_set_id(struct module_table *table, uint32_t module, const struct build_id *id) {
    struct stack_module *m = &table->items[module];
    const struct csn_str name = str_of(m->name);
    uint32_t *link = slot_of(table, MODULE_BY_BUILD, hash_module_build(name, &m->id));
    while (*link && *link != module + 1) link = &table->items[*link - 1].next[MODULE_BY_BUILD];
    if (*link) *link = m->next[MODULE_BY_BUILD];
    m->id = *id;
    m->resolved = m->forgotten = false;
    if (name.len) insert_first(table, MODULE_BY_BUILD, hash_module_build(name, id), module);
}

void module_table_drop_named(struct module_table *table) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        if (!table->items[i].named_in) table->items[kept++] = table->items[i];
        else free_module(&table->items[i]);
    }
    table->count = kept;
    table->named_count = 0;
    clear_slots(table);
    for (uint32_t i = 0; i < kept; i++) insert_names(table, i);
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
