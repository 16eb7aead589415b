/* A table of names for each index that is asked for one, made once. */
#define _GNU_SOURCE
#include "stack/session/stack_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "input/read_budget.h"
#include "stack/session/plain_name.h"
#include "ui/cli_message.h"
#include "ui/clone_name.h"
#include "ui/name_text.h"
#include "ui/whole_names.h"

/* Functions of one slot form a list: those of one name, however many, cost no other name anything. */
struct symbol_entry {
    uint32_t hash, next; /* function + 1; 0: the last */
};

struct symbol_table {
    const struct csn_index *index;
    struct symbol_entry *entries; /* by function */
    uint32_t *slots;              /* function + 1, by hash of its name; 0: none */
    uint32_t mask, function_count;
    struct symbol_entry *plain_entries; /* the same by plain names; NULL: nobody asked */
    uint32_t *plain_slots;
    bool is_given_up;             /* going through all names would take too long: no name is found, nor a plain one */
    bool in_pieces;               /* names are put together in `scratch` */
    struct name_scratch scratch;
};

enum { TABLES_MAX = 64, PROBE_BYTES = 1 << 22 }; /* of names that have one hash, for one frame */

static uint32_t hash_symbol(struct csn_str name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++) hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

/* "do_thing" of "do_thing.llvm.123456": kernels of LLVM's LTO print no such suffixes, and their symbols have them. */
static struct csn_str without_promotion(struct csn_str name) {
    static const char suffix[] = ".llvm.";
    const char *end = name.ptr + name.len, *at = name.len ? memchr(name.ptr, '.', name.len) : NULL;
    for (; at; at = memchr(at + 1, '.', (size_t)(end - at - 1)))
        if (at > name.ptr && (size_t)(end - at) >= sizeof(suffix) && memcmp(at, suffix, sizeof(suffix) - 1) == 0)
            return (struct csn_str){ name.ptr, (size_t)(at - name.ptr) };
    return name;
}

/* The function with its whole name, which holds until the next call. False: damaged, or no memory. */
static bool read_symbol_function(struct symbol_table *table, uint32_t i, struct csn_function *out) {
    if (csn_index_function(table->index, i, out, NULL) != CSN_OK) return false;
    return out->name.len || !table->in_pieces || name_scratch_read(&table->scratch, table->index, i, &out->name);
}

static void free_symbol_table(struct symbol_table *table) {
    free(table->entries);
    free(table->slots);
    free(table->plain_entries);
    free(table->plain_slots);
    free(table->scratch.bytes);
}

/* Nothing is found by these slots. Says so once, as the table stays. */
static void give_up(const struct symbol_table *table, uint32_t *slots) {
    struct csn_error err;
    read_budget_fail(table->index, &err);
    cli_error(NULL, "functions of an index are not found by name: %s", csn_error_text(&err));
    memset(slots, 0, ((size_t)table->mask + 1) * sizeof(*slots));
}

static bool build_symbol_table(const struct csn_index *index, struct symbol_table *out) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    uint32_t size = 16;
    while (size < info.function_count && size < 1u << 30) size *= 2;
    *out = (struct symbol_table){ .index = index, .mask = size - 1, .function_count = info.function_count,
                                  .in_pieces = info.format == CSN_FORMAT_BSYM };
    out->slots = calloc(size, sizeof(*out->slots));
    out->entries = calloc(info.function_count ? info.function_count : 1, sizeof(*out->entries));
    if (!out->slots || !out->entries) {
        free_symbol_table(out);
        return false;
    }
    uint64_t left = read_budget_of(index);
    for (uint32_t i = info.function_count; i-- > 0;) { /* the first one becomes the head */
        struct csn_function function;
        if (!read_symbol_function(out, i, &function)) continue;
        if (!read_budget_spend(&left, 1 + function.name.len + function.record_size)) {
            give_up(out, out->slots);
            out->is_given_up = true;
            break;
        }
        uint32_t hash = hash_symbol(without_promotion(function.name)), *slot = &out->slots[hash & out->mask];
        out->entries[i] = (struct symbol_entry){ hash, *slot };
        *slot = i + 1;
    }
    return true;
}

static struct symbol_table *symbol_table_of(struct symbol_tables *tables, const struct csn_index *index) {
    for (size_t i = 0; i < tables->count; i++)
        if (tables->items[i].index == index) return &tables->items[i];
    if (!tables->items) tables->items = calloc(TABLES_MAX, sizeof(*tables->items));
    if (!tables->items) return NULL;
    if (tables->count == TABLES_MAX) free_symbol_table(&tables->items[--tables->count]);
    struct symbol_table *table = &tables->items[tables->count];
    if (!build_symbol_table(index, table)) return NULL;
    tables->count++;
    return table;
}

void symbol_tables_clear(struct symbol_tables *tables) {
    for (size_t i = 0; i < tables->count; i++) free_symbol_table(&tables->items[i]);
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

/* `sized`: only functions that end where the site says. `whole`: only those of exactly this name. */
static uint32_t find_symbol(struct symbol_table *table, const struct symbol_site *site, bool sized, bool whole, uint64_t *start) {
    enum { PROBES = 1 << 16 };
    uint64_t left = PROBE_BYTES;
    uint32_t found = 0, hash = hash_symbol(without_promotion(site->name)), at = table->slots[hash & table->mask];
    for (unsigned probe = 0; at && probe < PROBES; at = table->entries[at - 1].next, probe++) {
        struct csn_function function;
        if (table->entries[at - 1].hash != hash || !read_symbol_function(table, at - 1, &function)) continue;
        if (!read_budget_spend(&left, 1 + function.name.len + function.record_size)) break;
        if (!same_text(whole ? function.name : without_promotion(function.name), site->name)) continue;
        uint64_t distance = distance_to_next(table, at - 1, &function);
        if (distance && site->offset > distance) continue;
        if (sized && distance != site->size && function.size != site->size) continue;
        if (found && *start == function.start) continue;
        if (!found++) *start = function.start;
    }
    return found;
}

/* "f.isra.0" where debug information calls the clone "f". Other functions may be called so, the one it is a part of as well: the
 * size tells which one is meant, or that there is no other. */
static uint32_t find_clone(struct symbol_table *table, const struct symbol_site *site, uint64_t *start) {
    struct symbol_site original = { .name = clone_original(site->name), .size = site->size };
    const bool sized = site->size;
    if (original.name.len == site->name.len || (!sized && clone_is_cold(site->name))) return 0;
    const uint32_t count = find_symbol(table, &original, sized, true, start);
    if (count != 1) return sized ? count : 0;
    original.offset = site->offset;
    return find_symbol(table, &original, sized, true, start);
}

bool symbol_tables_find(struct symbol_tables *tables, const struct csn_index *index, const struct symbol_site *site,
                        uint64_t *start, uint32_t *count) {
    struct symbol_table *table = symbol_table_of(tables, index);
    if (!table) return false;
    *count = 0;
    for (unsigned k = site->size ? 0 : 2; k < (site->must_fit ? 2u : 4u) && !*count; k++)
        *count = find_symbol(table, site, k < 2, k % 2 == 0, start);
    if (!*count) *count = find_clone(table, site, start);
    return true;
}

/* ---- plain names ---- */

enum { PLAIN_NAME_MAX = 512 };

static size_t plain_function_name(struct symbol_table *table, struct name_text *names, uint32_t i,
                                  struct csn_function *function, char *out) {
    if (!read_symbol_function(table, i, function)) return 0;
    return plain_name(name_text(names, function->name), out, PLAIN_NAME_MAX);
}

static bool build_plain_names(struct symbol_table *table, struct name_text *names) {
    table->plain_slots = calloc((size_t)table->mask + 1, sizeof(*table->plain_slots));
    table->plain_entries = calloc(table->function_count ? table->function_count : 1, sizeof(*table->plain_entries));
    if (!table->plain_slots || !table->plain_entries) return false;
    uint64_t left = read_budget_of(table->index);
    for (uint32_t i = table->function_count; i-- > 0;) {
        char name[PLAIN_NAME_MAX];
        struct csn_function function;
        const uint64_t made = names->made_bytes;
        size_t size = plain_function_name(table, names, i, &function, name);
        if (!read_budget_spend(&left, 1 + names->made_bytes - made)) {
            give_up(table, table->plain_slots);
            break;
        }
        if (!size) continue;
        uint32_t hash = hash_symbol((struct csn_str){ name, size }), *slot = &table->plain_slots[hash & table->mask];
        table->plain_entries[i] = (struct symbol_entry){ hash, *slot };
        *slot = i + 1;
    }
    return true;
}

/* What a line calls a function: its plain name; all of it, and which clone it is, where that tells functions of one
 * plain name apart. */
struct wanted_name {
    struct csn_str plain, whole, clone;
    bool by_whole, by_clone;
};

/* Abseil and glog print "()" whatever the arguments are. */
static bool has_arguments(struct csn_str name) { return name.len < 2 || memcmp(name.ptr + name.len - 2, "()", 2) != 0; }

static bool is_wanted(struct name_text *names, const struct wanted_name *wanted, struct csn_str stored) {
    char clone[PLAIN_NAME_MAX];
    const struct csn_str name = name_text(names, stored);
    if (wanted->by_whole && !same_text(name, wanted->whole)) return false;
    return !wanted->by_clone || same_text((struct csn_str){ clone, clone_suffix(name, clone, sizeof(clone)) }, wanted->clone);
}

static bool has_start(const uint64_t *starts, uint32_t count, uint64_t start) {
    for (uint32_t i = 0; i < count; i++)
        if (starts[i] == start) return true;
    return false;
}

/* Counts all; stores as many as there is room for. */
static uint32_t find_plain(struct symbol_table *table, struct name_text *names, const struct wanted_name *wanted, uint64_t *starts,
                           uint32_t capacity) {
    enum { PROBES = 1 << 12 };
    uint32_t count = 0, hash = hash_symbol(wanted->plain), at = table->plain_slots[hash & table->mask];
    for (unsigned probe = 0; at && probe < PROBES; at = table->plain_entries[at - 1].next, probe++) {
        char name[PLAIN_NAME_MAX];
        struct csn_function function;
        if (table->plain_entries[at - 1].hash != hash) continue;
        size_t size = plain_function_name(table, names, at - 1, &function, name);
        if (!same_text((struct csn_str){ name, size }, wanted->plain) || !is_wanted(names, wanted, function.name)) continue;
        if (has_start(starts, count < capacity ? count : capacity, function.start)) continue;
        if (count < capacity) starts[count] = function.start;
        count++;
    }
    return count;
}

/* Of several, those that more is true of, unless that is none. */
static void narrow_plain(struct symbol_table *table, struct name_text *names, struct wanted_name *wanted, bool *more,
                         uint64_t *starts, uint32_t capacity, uint32_t *count) {
    *more = true;
    const uint32_t narrowed = find_plain(table, names, wanted, starts, capacity);
    if (narrowed) {
        *count = narrowed;
        return;
    }
    *more = false;
    find_plain(table, names, wanted, starts, capacity);
}

bool symbol_tables_find_plain(struct symbol_tables *tables, const struct csn_index *index, struct csn_str name, bool with_clones,
                              uint64_t *starts, uint32_t capacity, uint32_t *count) {
    struct symbol_table *table = symbol_table_of(tables, index);
    struct name_text names;
    char plain[PLAIN_NAME_MAX], clone[PLAIN_NAME_MAX];
    *count = 0;
    if (table && table->is_given_up) return true;
    if (!table || !name_text_init(&names, true)) return false;
    bool good = table->plain_slots || build_plain_names(table, &names);
    struct wanted_name wanted = { .whole = name };
    const struct csn_str text = name_text(&names, name);
    wanted.plain = (struct csn_str){ plain, plain_name(text, plain, sizeof(plain)) };
    wanted.clone = (struct csn_str){ clone, clone_suffix(text, clone, sizeof(clone)) };
    if (good && wanted.plain.len) *count = find_plain(table, &names, &wanted, starts, capacity);
    if (*count > 1 && has_arguments(name)) narrow_plain(table, &names, &wanted, &wanted.by_whole, starts, capacity, count);
    if (*count > 1 && !with_clones) narrow_plain(table, &names, &wanted, &wanted.by_clone, starts, capacity, count);
    if (*count > capacity) *count = 0; /* the ones that there is no room for would be as good */
    name_text_deinit(&names);
    return good;
}
