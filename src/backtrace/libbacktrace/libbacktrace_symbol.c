/* Symbols of functions and variables by libbacktrace's interface: an index has functions alone, so these come from the symbol
 * table of the module's file. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "backtrace/libbacktrace/libbacktrace_private.h"
#include "base/core/alloc.h"
#include "base/core/file_map.h"
#include "base/core/sort.h"
#include "object/object.h"

struct own_symbol {
    uint64_t addr, size;
    const char *name;        /* with a NUL: string tables of ELF have them */
    uint32_t rank;           /* among those of one address the highest is given */
};

/* The symbols of a module; the file stays open, since names point into it. */
struct symbol_table {
    struct symbol_table *next;
    const char *path;        /* of the module: its address stands for the module */
    struct csni_file_map map;
    struct csni_object *object;
    CSNI_VEC(struct own_symbol) symbols;
};

static pthread_mutex_t tables_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct symbol_table *) tables;

/* ---- reading ---- */

static bool is_before(const void *context, const void *a, const void *b) {
    const struct own_symbol *x = a, *y = b;
    (void)context;
    return x->addr != y->addr ? x->addr < y->addr : x->rank < y->rank;
}

/* Global names before weak and local ones; of equals, the first in the table. */
static uint32_t rank_of(const struct csni_symbol *symbol, uint32_t number) {
    uint32_t bind = symbol->bind == CSNI_BIND_GLOBAL ? 2 : symbol->bind == CSNI_BIND_WEAK ? 1 : 0;
    return bind << 28 | (0xfffffff - (number & 0xfffffff));
}

static bool take_symbol(struct symbol_table *table, const struct csni_symbol *symbol, uint32_t number) {
    bool is_wanted = symbol->kind == CSNI_SYMBOL_FUNCTION || symbol->kind == CSNI_SYMBOL_DATA || symbol->kind == CSNI_SYMBOL_IFUNC;
    if (!is_wanted || !symbol->defined || !symbol->name.len) return true;
    const struct own_symbol made = { symbol->addr, symbol->size, symbol->name.ptr, rank_of(symbol, number) };
    return csni_vec_push(&table->symbols, made);
}

static void read_symbols(struct symbol_table *table) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint32_t number = 0;
    if (csni_symbol_iter_init(&iter, table->object, CSNI_SYMBOLS_STATIC, NULL) != CSN_OK
        && csni_symbol_iter_init(&iter, table->object, CSNI_SYMBOLS_DYNAMIC, NULL) != CSN_OK) return;
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK)
        if (!take_symbol(table, &symbol, number++)) return;
    csni_heap_sort(table->symbols.items, table->symbols.count, sizeof *table->symbols.items, is_before, NULL);
}

static void read_file(struct symbol_table *table, const char *path) {
    const struct csni_object_options options = { .file_is_mapped = true };
    if (csni_file_map_open(&table->map, path, NULL) != CSN_OK) return;
    if (csni_object_open(table->map.bytes, &options, &table->object, NULL) == CSN_OK) read_symbols(table);
}

static const struct symbol_table *find_table(const char *path) {
    const struct symbol_table *table = atomic_load_explicit(&tables, memory_order_acquire);
    while (table && table->path != path) table = table->next;
    return table;
}

static const struct symbol_table *make_table(const char *path, const char *open_path) {
    pthread_mutex_lock(&tables_mutex);
    const struct symbol_table *found = find_table(path);
    struct symbol_table *table = found ? NULL : csni_alloc_zeroed(NULL, 1, sizeof *table);
    if (table) {
        table->path = path;
        read_file(table, open_path);
        table->next = atomic_load_explicit(&tables, memory_order_relaxed);
        atomic_store_explicit(&tables, table, memory_order_release);
        found = table;
    }
    pthread_mutex_unlock(&tables_mutex);
    return found;
}

/* ---- lookups ---- */

enum { STEPS_BACK = 64 };

/* Of symbols within others, the last that begins before the address and covers it. */
static const struct own_symbol *find_symbol(const struct symbol_table *table, uint64_t addr) {
    size_t low = 0, high = table->symbols.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (table->symbols.items[mid].addr <= addr) low = mid + 1;
        else high = mid;
    }
    for (size_t i = low; i-- > 0 && low - i <= STEPS_BACK;) {
        const struct own_symbol *symbol = &table->symbols.items[i];
        if (addr - symbol->addr < symbol->size) return symbol;
    }
    return NULL;
}

struct symbol_call {
    backtrace_syminfo_callback callback;
    void *data;
    uintptr_t addr;
};

/* A stripped module may still have an index. */
static bool report_function(const struct symbol_call *call, const struct csn_backtrace_module *module) {
    struct csn_frame_ref refs[CSN_INLINE_DEPTH_MAX / 8];
    struct csn_lookup found;
    struct csn_frame frame;
    char name[1024];
    size_t cap = sizeof refs / sizeof *refs;
    if (!module->index || csn_index_lookup_refs(module->index, call->addr - module->bias, CSN_LOOKUP_DEFAULT, refs, cap, &found, NULL) != CSN_OK)
        return false;
    if (!found.frame_count || found.frame_count > cap) return false;
    csn_index_resolve(module->index, &refs[found.frame_count - 1], &frame);
    if (!frame.name.len || frame.name.len >= sizeof name) return false;
    memcpy(name, frame.name.ptr, frame.name.len);
    name[frame.name.len] = 0;
    call->callback(call->data, call->addr, name, (uintptr_t)(found.function_start + module->bias), (uintptr_t)found.function_size);
    return true;
}

int backtrace_syminfo(struct backtrace_state *state, uintptr_t addr, backtrace_syminfo_callback callback,
                      backtrace_error_callback error_callback, void *data) {
    const struct symbol_call call = { callback, data, addr };
    const uint64_t pc = addr;
    (void)error_callback;
    if (!csni_backtrace_module_of(state->backtrace, pc)) (void)csn_backtrace_load(state->backtrace, &pc, 0, NULL);
    const struct csni_backtrace_module *module = csni_backtrace_module_of(state->backtrace, pc);
    const struct symbol_table *table = module ? find_table(module->path) : NULL;
    if (module && !table) table = make_table(module->path, module->open_path);
    const struct own_symbol *symbol = table ? find_symbol(table, pc - module->shown.bias) : NULL;
    if (symbol) callback(data, addr, symbol->name, (uintptr_t)(symbol->addr + module->shown.bias), (uintptr_t)symbol->size);
    else if (!module || !report_function(&call, csn_backtrace_find_module(state->backtrace, pc))) callback(data, addr, NULL, 0, 0);
    return 1;
}
