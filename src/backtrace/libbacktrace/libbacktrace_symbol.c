/* Symbols of functions and variables by libbacktrace's interface: an index has functions alone, so these come from the symbol
 * table of the module's file. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <string.h>

#include "backtrace/libbacktrace/libbacktrace_private.h"
#include "backtrace/symbols/own_symbols.h"
#include "base/core/alloc.h"

/* The symbols of a module. */
struct symbol_table {
    struct symbol_table *next;
    const char *path;        /* of the module: its address stands for the module */
    struct csni_own_symbols symbols;
};

static pthread_mutex_t tables_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct symbol_table *) tables;

/* ---- tables ---- */

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
        csni_own_symbols_open(&table->symbols, open_path, NULL);
        table->next = atomic_load_explicit(&tables, memory_order_relaxed);
        atomic_store_explicit(&tables, table, memory_order_release);
        found = table;
    }
    pthread_mutex_unlock(&tables_mutex);
    return found;
}

/* ---- lookups ---- */

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
    if (!module->index || csn_index_lookup_refs(module->index, call->addr - module->bias, CSN_LOOKUP_DEFAULT, refs, cap,
                                                &found, NULL) != CSN_OK)
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
    const struct csni_own_symbol *symbol = table ? csni_own_symbols_find(&table->symbols, pc - module->shown.bias) : NULL;
    if (symbol) callback(data, addr, symbol->name, (uintptr_t)(symbol->addr + module->shown.bias), (uintptr_t)symbol->size);
    else if (!module || !report_function(&call, csn_backtrace_find_module(state->backtrace, pc))) callback(data, addr, NULL, 0, 0);
    return 1;
}
