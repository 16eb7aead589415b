/* Functions of a skeleton whose split unit is not there: the symbols within what its line table covers. Name and lines
 * together answer most of what is asked. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "convert/dwarf/symbol_list.h"
#include "convert/dwarf/unit_lines.h"
#include "convert/dwarf/unit_symbols.h"

/* Functions that the unit's own DIEs have told of: Clang leaves those with inlined calls in skeletons where it is asked
 * to. They stand first in the batch. */
struct told {
    struct csni_batch_writer *writer;
    csni_numbers order; /* functions by start and size */
};

static bool comes_before(const struct csni_function *a, uint64_t start, uint32_t size) {
    return a->start != start ? a->start < start : a->size < size;
}

static bool function_comes_before(const void *context, const void *a, const void *b) {
    const struct csni_function *f = context, *second = &f[*(const uint32_t *)b];
    return comes_before(&f[*(const uint32_t *)a], second->start, second->size);
}

static csn_status order_functions(struct told *told) {
    const struct csni_function *f = told->writer->functions.items;
    size_t count = told->writer->functions.count;
    if (!csni_vec_reserve(&told->order, count)) return CSN_E_MEMORY;
    told->order.count = count;
    for (uint32_t i = 0; i < count; i++) told->order.items[i] = i;
    csni_heap_sort(told->order.items, count, sizeof *told->order.items, function_comes_before, f);
    return CSN_OK;
}

static inline bool is_before_symbol(const void *context, size_t index, const void *key) {
    const struct told *told = context;
    const struct csni_listed_symbol *symbol = key;
    return comes_before(&told->writer->functions.items[told->order.items[index]], symbol->addr, symbol->size);
}

/* The function of the symbol's start and size, or NULL. */
static struct csni_function *find_function_of_symbol(const struct told *told, const struct csni_listed_symbol *symbol) {
    size_t at = csni_search_in(0, told->order.count, is_before_symbol, told, symbol);
    if (at == told->order.count) return NULL;
    struct csni_function *found = &told->writer->functions.items[told->order.items[at]];
    return found->start == symbol->addr && found->size == symbol->size ? found : NULL;
}

static csn_status add_skeleton_symbol(struct csni_unit_job *job, const struct told *told,
                                      const struct csni_listed_symbol *symbol) {
    CSNI_TRY(csni_unit_charge(job, 1));
    uint32_t name = csni_batch_add_string(job->writer, symbol->name);
    struct csni_function *known = find_function_of_symbol(told, symbol);
    if (known) { /* skeletons have plain names, without scopes, or none */
        known->name = name;
        return CSN_OK;
    }
    struct csni_open_function no_die = { .has_no_die = true };
    csni_batch_begin_function(job->writer, symbol->addr, symbol->size, name, CSNI_SOURCE_SYMBOL);
    return csni_unit_add_rows(job, &no_die, symbol->addr, symbol->addr + symbol->size);
}

csn_status csni_unit_add_symbols(struct csni_unit_job *job, const struct csni_symbol_list *symbols) {
    if (!job->lines_read) CSNI_TRY(csni_unit_read_lines(job));
    if (!job->has_lines) return CSN_OK;
    struct told told = { job->writer, { .alloc = job->conversion->alloc } };
    csn_status status = order_functions(&told);
    size_t next = 0; /* sequences ascend; where hostile ones overlap, a symbol is still taken once */
    for (size_t i = 0; i < job->lines.sequences.count && status >= 0; i++) {
        const struct csni_line_sequence *s = &job->lines.sequences.items[i];
        if (!csni_in_text(job->conversion, s->low)) continue; /* what the linker removed */
        size_t at = csni_symbol_list_find(symbols, s->low);
        for (at = at > next ? at : next; at < symbols->items.count && symbols->items.items[at].addr < s->high; at++) {
            status = add_skeleton_symbol(job, &told, &symbols->items.items[at]);
            if (status < 0) break;
            next = at + 1;
        }
    }
    csni_vec_deinit(&told.order);
    return status;
}
