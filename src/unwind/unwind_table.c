/* Tables of rules. */
#include "unwind/unwind.h"

void csni_unwind_table_init(struct csni_unwind_table *table, const struct csn_allocator *alloc) {
    *table = (struct csni_unwind_table){ 0 };
    table->rows.alloc = table->rules.alloc = table->tokens.alloc = alloc;
}

void csni_unwind_table_deinit(struct csni_unwind_table *table) {
    csni_vec_deinit(&table->rows);
    csni_vec_deinit(&table->rules);
    csni_vec_deinit(&table->tokens);
}

void csni_unwind_begin(struct csni_unwind_table *table, uint64_t start, uint64_t size) {
    table->start = start;
    table->size = size;
    table->rows.count = table->rules.count = table->tokens.count = 0;
}

bool csni_unwind_add_row(struct csni_unwind_table *table, uint64_t addr) {
    struct csni_unwind_row row = { .addr = addr, .first_rule = (uint32_t)table->rules.count };
    return csni_vec_push(&table->rows, row);
}

bool csni_unwind_add_rule(struct csni_unwind_table *table, struct csni_unwind_rule rule) {
    if (!csni_vec_push(&table->rules, rule)) return false;
    table->rows.items[table->rows.count - 1].rule_count++;
    return true;
}
