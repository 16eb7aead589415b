/* Symbols of functions and variables of a module, by address. */
#include "backtrace/symbols/own_symbols.h"

#include "base/core/search.h"
#include "base/core/sort.h"

enum { STEPS_BACK = 64 };

static bool is_before(const void *context, const void *a, const void *b) {
    const struct csni_own_symbol *x = a, *y = b;
    (void)context;
    return x->addr != y->addr ? x->addr < y->addr : x->rank < y->rank;
}

/* Global names before weak and local ones; of equals, the first in the table. */
static uint32_t rank_of(const struct csni_symbol *symbol, uint32_t number) {
    uint32_t bind = symbol->bind == CSNI_BIND_GLOBAL ? 2 : symbol->bind == CSNI_BIND_WEAK ? 1 : 0;
    return bind << 28 | (0xfffffff - (number & 0xfffffff));
}

static bool take_symbol(struct csni_own_symbols *out, const struct csni_symbol *symbol, uint32_t number) {
    bool is_wanted = symbol->kind == CSNI_SYMBOL_FUNCTION || symbol->kind == CSNI_SYMBOL_DATA || symbol->kind == CSNI_SYMBOL_IFUNC;
    if (!is_wanted || !symbol->defined || !symbol->name.len) return true;
    const struct csni_own_symbol made = { symbol->addr, symbol->size, symbol->name.ptr, rank_of(symbol, number) };
    return csni_vec_push(&out->symbols, made);
}

static void read_symbols(struct csni_own_symbols *out) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint32_t number = 0;
    if (csni_symbol_iter_init(&iter, out->object, CSNI_SYMBOLS_STATIC, NULL) != CSN_OK
        && csni_symbol_iter_init(&iter, out->object, CSNI_SYMBOLS_DYNAMIC, NULL) != CSN_OK) return;
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK)
        if (!take_symbol(out, &symbol, number++)) break;
    if (out->symbols.count) csni_heap_sort(out->symbols.items, out->symbols.count, sizeof *out->symbols.items, is_before, NULL);
}

void csni_own_symbols_open(struct csni_own_symbols *out, const char *path, const struct csn_allocator *alloc) {
    const struct csni_object_options options = { .allocator = alloc, .file_is_mapped = true };
    out->alloc = out->symbols.alloc = alloc;
    if (csni_file_map_open(&out->map, path, NULL) != CSN_OK) return;
    if (csni_object_open(out->map.bytes, &options, &out->object, NULL) == CSN_OK) read_symbols(out);
}

void csni_own_symbols_close(struct csni_own_symbols *symbols) {
    csni_vec_deinit(&symbols->symbols);
    csni_object_close(symbols->object);
    csni_file_map_close(&symbols->map);
    symbols->object = NULL;
}

const struct csni_own_symbol *csni_own_symbols_find(const struct csni_own_symbols *symbols, uint64_t addr) {
    const size_t low = csni_upper_bound(symbols->symbols.items, symbols->symbols.count, addr, addr);
    for (size_t i = low; i-- > 0 && low - i <= STEPS_BACK;) {
        const struct csni_own_symbol *symbol = &symbols->symbols.items[i];
        if (addr - symbol->addr < symbol->size) return symbol;
    }
    return NULL;
}
