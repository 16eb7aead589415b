/* Ids of functions that a module takes from another one. */
#include "convert/pdb/pdb_imports.h"

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"

struct csni_pdb_exporter {
    bool is_read;
    csni_pdb_exports exports;
};

void csni_pdb_imports_init(struct csni_pdb_imports *imports, const struct csni_pdb *pdb) {
    *imports = (struct csni_pdb_imports){ .pdb = pdb };
    pthread_mutex_init(&imports->lock, NULL);
}

void csni_pdb_imports_deinit(struct csni_pdb_imports *imports) {
    size_t count = imports->pdb->modules.count;
    const struct csn_allocator *alloc = imports->pdb->alloc;
    for (size_t i = 0; imports->exporters && i < count; i++) csni_vec_deinit(&imports->exporters[i].exports);
    csni_free(alloc, imports->exporters, count * sizeof *imports->exporters);
    csni_free(alloc, imports->by_name, count * sizeof *imports->by_name);
    pthread_mutex_destroy(&imports->lock);
}

/* ---- modules by name ---- */

static char small_letter(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

/* Paths of Windows: what modules import from is written in small letters. */
static int compare_names(struct csn_str a, struct csn_str b) {
    size_t shorter = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < shorter; i++) {
        char x = small_letter(a.ptr[i]), y = small_letter(b.ptr[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

/* Of one name the first in the list. */
static bool module_before(const void *context, const void *pa, const void *pb) {
    const struct csni_pdb_module *modules = context;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    int order = compare_names(modules[a].name, modules[b].name);
    return order ? order < 0 : a < b;
}

static bool name_before(const void *context, size_t index, const void *key) {
    const struct csni_pdb_imports *imports = context;
    return compare_names(imports->pdb->modules.items[imports->by_name[index]].name, *(const struct csn_str *)key) < 0;
}

static csn_status begin_imports(struct csni_pdb_imports *imports, struct csn_error *err) {
    size_t count = imports->pdb->modules.count;
    if (imports->by_name) return CSN_OK;
    imports->exporters = csni_alloc_zeroed(imports->pdb->alloc, count, sizeof *imports->exporters);
    if (!imports->exporters) return csni_fail_memory(err, count * sizeof *imports->exporters);
    imports->by_name = csni_alloc_zeroed(imports->pdb->alloc, count, sizeof *imports->by_name);
    if (!imports->by_name) {
        csni_free(imports->pdb->alloc, imports->exporters, count * sizeof *imports->exporters);
        imports->exporters = NULL;
        return csni_fail_memory(err, count * sizeof *imports->by_name);
    }
    for (uint32_t i = 0; i < count; i++) {
        imports->by_name[i] = i;
        imports->exporters[i].exports.alloc = imports->pdb->alloc;
    }
    csni_heap_sort(imports->by_name, count, sizeof *imports->by_name, module_before, imports->pdb->modules.items);
    return CSN_OK;
}

/* ---- resolving ---- */

/* A module that cannot be read exports nothing: its own conversion tells that. */
static csn_status open_exporter(struct csni_pdb_imports *imports, struct csn_str name, const csni_pdb_exports **out,
                                struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    size_t count = imports->pdb->modules.count, at = csni_search_in(0, count, name_before, imports, &name);
    if (at == count || compare_names(imports->pdb->modules.items[imports->by_name[at]].name, name) != 0) return CSN_NONE;
    uint32_t module = imports->by_name[at];
    struct csni_pdb_exporter *exporter = &imports->exporters[module];
    bool has_stream = imports->pdb->modules.items[module].stream != CSNI_PDB_NO_STREAM;
    if (!exporter->is_read && has_stream &&
        csni_pdb_read_exports(imports->pdb, module, &exporter->exports, &damage) == CSN_E_MEMORY)
        return csni_fail_memory(err, 0);
    exporter->is_read = true;
    *out = &exporter->exports;
    return CSN_OK;
}

static csn_status find_exported(struct csni_pdb_imports *imports, struct csn_str module, uint32_t own_id, uint32_t *out,
                                struct csn_error *err) {
    const csni_pdb_exports *exports;
    CSNI_TRY(begin_imports(imports, err));
    csn_status status = open_exporter(imports, module, &exports, err);
    if (status != CSN_OK) return status;
    size_t at = csni_lower_bound(exports->items, exports->count, own_id, own_id);
    if (at == exports->count || exports->items[at].own_id != own_id) return CSN_NONE;
    *out = exports->items[at].id;
    return CSN_OK;
}

csn_status csni_pdb_imports_resolve(struct csni_pdb_imports *imports, const struct csni_pdb_lines *lines, uint32_t id,
                                    uint32_t *out, struct csn_error *err) {
    struct csn_str module;
    uint32_t own_id;
    *out = id;
    if (!csni_pdb_id_is_imported(id)) return CSN_OK;
    if (!csni_pdb_find_import(imports->pdb, lines, id, &module, &own_id)) return CSN_NONE;
    pthread_mutex_lock(&imports->lock);
    csn_status status = find_exported(imports, module, own_id, out, err);
    pthread_mutex_unlock(&imports->lock);
    return status;
}
