/* Making and keeping tables of tail calls. */
#include "symbolicate/tail_table.h"

#include <string.h>

#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/hash.h"

enum {
    TABLE_BUDGET = 1 << 26,  /* steps for one table, as many as a stack may cost */
    TABLE_ENTRIES_MAX = 1 << 21,
    NAME_BYTES_PER_STEP = 64
};

struct table_maker {
    const struct csn_index *index;
    CSNI_VEC(struct csni_tail_entry) entries;
    struct csni_budget budget;
};

bool csni_record_has_tail_call(const struct csn_index *index, const struct csn_record *record, struct csni_budget *budget) {
    struct csn_call_site_iter iter;
    struct csn_call_site call;
    if (csn_call_site_iter_init(&iter, index, record, NULL) != CSN_OK) return false;
    while (csni_budget_charge(budget, 1) && csn_call_site_iter_next(&iter, &call, NULL) == CSN_OK)
        if (call.flags & CSN_CALL_SITE_TAIL) return true;
    return false;
}

/* False: no memory. */
static bool add_record(struct table_maker *m, const struct csn_record *record, const struct csn_function *function,
                       uint32_t idx, uint32_t child) {
    csni_budget_charge(&m->budget, 4 + function->name.len / NAME_BYTES_PER_STEP);
    if (!function->has_call_sites || !csni_record_has_tail_call(m->index, record, &m->budget)) return true;
    struct csni_tail_entry entry = { csni_hash_bytes(function->name.ptr, function->name.len), idx, child };
    return csni_vec_push(&m->entries, entry);
}

static bool add_children(struct table_maker *m, const struct csn_record *record, uint32_t idx) {
    struct csn_merged_iter iter;
    struct csn_record child;
    if (csn_merged_iter_init(&iter, m->index, record, NULL) != CSN_OK) return true;
    for (uint32_t k = 1; !csni_budget_is_exhausted(&m->budget) && csn_merged_iter_next(&iter, &child, NULL) == CSN_OK; k++) {
        struct csn_function function;
        if (csn_record_function(m->index, &child, &function, NULL) == CSN_OK && !add_record(m, &child, &function, idx, k))
            return false;
    }
    return true;
}

static bool is_entry_before(const void *context, const void *pa, const void *pb) {
    const struct csni_tail_entry *a = pa, *b = pb;
    (void)context;
    if (a->hash != b->hash) return a->hash < b->hash;
    return a->function != b->function ? a->function < b->function : a->child < b->child;
}

/* Damaged records have no tail calls. */
static bool make_table(const struct csn_allocator *alloc, struct csni_tail_table *table) {
    struct table_maker m = { .index = table->index, .entries.alloc = alloc, .budget.limit = TABLE_BUDGET };
    struct csn_index_info info;
    csn_index_get_info(table->index, &info, sizeof(info));
    bool good = true;
    for (uint32_t i = 0; good && !csni_budget_is_exhausted(&m.budget) && m.entries.count <= TABLE_ENTRIES_MAX &&
                         i < info.function_count;
         i++) {
        struct csn_record record;
        struct csn_function function;
        if (csn_index_record(table->index, i, &record, NULL) != CSN_OK) continue;
        if (csn_record_function(table->index, &record, &function, NULL) != CSN_OK) continue;
        good = add_record(&m, &record, &function, i, 0) && (!function.has_merged || add_children(&m, &record, i));
    }
    table->given_up = csni_budget_is_exhausted(&m.budget) || m.entries.count > TABLE_ENTRIES_MAX;
    if (good && !table->given_up && m.entries.count) {
        csni_heap_sort(m.entries.items, m.entries.count, sizeof(*m.entries.items), is_entry_before, NULL);
        table->entries = csni_alloc(alloc, m.entries.count * sizeof(*table->entries));
        good = table->entries != NULL;
        if (good) memcpy(table->entries, m.entries.items, m.entries.count * sizeof(*table->entries));
        if (good) table->count = m.entries.count;
    }
    csni_vec_deinit(&m.entries);
    return good;
}

static size_t table_bytes(const struct csni_tail_table *table) { return table->count * sizeof(*table->entries); }

void csni_tail_tables_init(struct csni_tail_tables *tables, const struct csn_allocator *alloc) {
    *tables = (struct csni_tail_tables){ .alloc = alloc, .items.alloc = alloc };
}

void csni_tail_tables_clear(struct csni_tail_tables *tables) {
    for (size_t i = 0; i < tables->items.count; i++)
        csni_free(tables->alloc, tables->items.items[i].entries, table_bytes(&tables->items.items[i]));
    csni_vec_deinit(&tables->items);
    tables->bytes = 0;
}

uint32_t csni_tail_tables_get(struct csni_tail_tables *tables, const struct csn_index *index) {
    for (size_t i = 0; i < tables->items.count; i++)
        if (tables->items.items[i].index == index) return (uint32_t)i;
    struct csni_tail_table table = { .index = index };
    if (!make_table(tables->alloc, &table)) return UINT32_MAX;
    if (!csni_vec_push(&tables->items, table)) {
        csni_free(tables->alloc, table.entries, table_bytes(&table));
        return UINT32_MAX;
    }
    tables->bytes += table_bytes(&table);
    return (uint32_t)tables->items.count - 1;
}

size_t csni_tail_table_first(const struct csni_tail_table *table, uint64_t hash) {
    return csni_lower_bound(table->entries, table->count, hash, hash);
}
