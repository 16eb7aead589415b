/* Hashes of names and words, sorted.
 *
 * A query is part of a demangled name that begins outside of brackets and ends before parameters, template arguments or a blank
 * (find_query_has_name()); "'lambda'(int)" and the like count as brackets (name_parts.h). So each word of the query outside of its
 * own brackets is a whole word of the name outside of brackets. */
#define _GNU_SOURCE
#include "find/name_table.h"

#include <stdlib.h>

#include "find/find_walk.h"
#include "find/name_parts.h"
#include "ui/bounds.h"
#include "ui/growing.h"
#include "ui/text_bytes.h"

/* ---- words ---- */

struct word_walk {
    struct csn_str name;
    size_t at; /* SIZE_MAX: behind the parameters */
};

/* Any byte that neither begins nor ends a name in find_query_has_name(). */
static bool is_word_byte(char c) {
    return is_word_char(c) || c == '$' || (unsigned char)c >= 0x80;
}

/* False: there is no further one outside of brackets. */
static bool next_word(struct word_walk *walk, struct csn_str *out) {
    while (walk->at < walk->name.len) {
        const size_t start = walk->at;
        walk->at = skip_name_part(walk->name, start);
        if (!is_word_byte(walk->name.ptr[start]) || walk->at != start + 1) continue;
        while (walk->at < walk->name.len && is_word_byte(walk->name.ptr[walk->at])) walk->at++;
        *out = (struct csn_str){ walk->name.ptr + start, walk->at - start };
        return true;
    }
    return false;
}

/* ---- making ---- */

static uint64_t key_of(struct csn_str text, uint32_t function) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < text.len; i++) hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
    return (uint64_t)hash << 32 | function;
}

struct table_maker {
    struct name_table *table;
    struct name_text *demangler;
};

static bool add_entry(struct name_table *table, struct csn_str text, uint32_t function) {
    if (table->count == NAME_TABLE_ENTRIES ||
        !reserve_items(&table->items, &table->capacity, table->count + 1, sizeof(*table->items)))
        return false;
    table->items[table->count++].key = key_of(text, function);
    return true;
}

static bool add_name(void *context, uint32_t function, struct csn_str name) {
    struct table_maker *maker = context;
    if (!add_entry(maker->table, name, function)) return false;
    if (!maker->table->has_words) return true;
    struct word_walk walk = { .name = name_text(maker->demangler, name) };
    struct csn_str word;
    while (next_word(&walk, &word))
        if (word.len != name.len && !add_entry(maker->table, word, function)) return false; /* else it is the name */
    return true;
}

static int compare_entries(const void *a, const void *b) {
    const uint64_t x = ((const struct name_entry *)a)->key, y = ((const struct name_entry *)b)->key;
    return (x > y) - (x < y);
}

static void sort_entries(struct name_table *table) {
    size_t kept = 0;
    if (!table->count) return;
    qsort(table->items, table->count, sizeof(*table->items), compare_entries);
    for (size_t i = 1; i < table->count; i++)
        if (table->items[i].key != table->items[kept].key) table->items[++kept] = table->items[i];
    table->count = kept + 1;
}

bool name_table_make(struct name_table *table, const struct csn_index *index, bool with_words) {
    struct csn_index_info info;
    struct find_walk walk;
    csn_index_get_info(index, &info, sizeof(info));
    name_table_deinit(table);
    if (!find_walk_init(&walk, index, NULL, 0)) return false;
    table->has_words = with_words;
    struct table_maker maker = { table, &walk.demangler };
    bool good = true;
    for (uint32_t i = 0; good && i < info.function_count; i++) good = find_walk_visit_names(&walk, i, add_name, &maker);
    find_walk_deinit(&walk);
    if (good) sort_entries(table);
    else name_table_deinit(table);
    return good;
}

void name_table_deinit(struct name_table *table) {
    free(table->items);
    *table = (struct name_table){ .items = NULL };
}

/* ---- finding ---- */

static const struct name_entry *entries_of(const struct name_table *table, struct csn_str text, size_t *count) {
    const size_t first = LOWER_BOUND(table->items, table->count, key, key_of(text, 0));
    *count = UPPER_BOUND(table->items, table->count, key, key_of(text, UINT32_MAX)) - first;
    return table->items + first;
}

static bool candidates_of(const struct name_entry *entries, size_t count, struct name_candidates *out) {
    out->functions = reallocarray(NULL, count + 1, sizeof(*out->functions));
    out->count = out->functions ? count : 0;
    for (size_t i = 0; i < out->count; i++) out->functions[i] = (uint32_t)entries[i].key;
    return out->functions;
}

bool name_table_stored(const struct name_table *table, struct csn_str name, struct name_candidates *out) {
    size_t count;
    const struct name_entry *entries = entries_of(table, name, &count);
    return candidates_of(entries, count, out);
}

/* By the word of which there are fewest. */
bool name_table_shown(const struct name_table *table, struct csn_str name, struct name_candidates *out) {
    const struct name_entry *least = NULL;
    size_t least_count = 0;
    struct word_walk walk = { .name = name };
    struct csn_str word;
    *out = (struct name_candidates){ .functions = NULL };
    while (next_word(&walk, &word)) {
        size_t count;
        const struct name_entry *entries = entries_of(table, word, &count);
        if (least && count >= least_count) continue;
        least = entries;
        least_count = count;
    }
    return least && candidates_of(least, least_count, out);
}
