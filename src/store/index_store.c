/* A store: its handle, the given indexes, and the order in which locations are searched. */
#define _GNU_SOURCE
#include "store/index_store.h"

#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "base/own_path.h"

enum { ARENA_CHUNK = 4096, MAX_OPEN_DEFAULT = 1024 };

/* ---- the handle ---- */

static csn_status copy_folders(struct csn_store *store, struct csn_error *err) {
    size_t count = store->options.folder_count;
    if (!count) return CSN_OK;
    const char **copies = count < SIZE_MAX / sizeof *copies ? csni_arena_alloc(&store->arena, count * sizeof *copies) : NULL;
    if (!copies) return csni_fail_memory(err, count * sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        const char *folder = store->options.folders[i];
        if (!folder) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "folder %zu of the store is NULL", i);
        copies[i] = csni_arena_copy(&store->arena, folder, strlen(folder));
        if (!copies[i]) return csni_fail_memory(err, strlen(folder));
    }
    store->options.folders = copies;
    return CSN_OK;
}

void csn_store_options_init(struct csn_store_options *options) {
    *options = (struct csn_store_options)CSN_STORE_OPTIONS_INIT;
}

void csn_store_module_init(struct csn_store_module *module) {
    *module = (struct csn_store_module)CSN_STORE_MODULE_INIT;
}

csn_status csn_store_create(const struct csn_store_options *given, struct csn_store **out, struct csn_error *err) {
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    uint32_t unknown = options.flags & ~(uint32_t)CSN_STORE_BESIDE;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown store flags 0x%x", unknown);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_store *store = csni_alloc_zeroed(alloc, 1, sizeof *store);
    if (!store) return csni_fail_memory(err, sizeof *store);
    store->alloc = store->entries.alloc = store->reported.alloc = alloc;
    store->options = options;
    if (!store->options.max_open) store->options.max_open = MAX_OPEN_DEFAULT;
    csni_arena_init(&store->arena, alloc, ARENA_CHUNK);
    csn_status status = copy_folders(store, err);
    if (status >= 0) status = csni_store_make_names(store, err);
    if (status < 0) csn_store_destroy(store);
    else *out = store;
    return status;
}

void csn_store_destroy(struct csn_store *store) {
    if (!store) return;
    csni_store_close_from(store, 0);
    csni_vec_deinit(&store->entries);
    csni_vec_deinit(&store->reported);
    csni_store_free_tables(store);
    csni_store_free_names(store);
    csni_arena_deinit(&store->arena);
    csni_free(store->alloc, store, sizeof *store);
}

bool csn_store_is_full(const struct csn_store *store) {
    return store->open_count - store->given_count > store->options.max_open;
}

void csn_store_trim(struct csn_store *store) {
    csni_store_close_from(store, store->given_count);
    store->generation++;
}

uint64_t csn_store_generation(const struct csn_store *store) { return store->generation; }

/* ---- given indexes ---- */

static csn_status name_entry(struct csn_store *store, struct csni_store_entry *entry, struct csn_str name, struct csn_error *err) {
    name = csni_store_base_name(name);
    if (!name.len) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the name of the modules of %s is empty", entry->path);
    entry->name = csni_alloc(store->alloc, name.len);
    if (!entry->name) return csni_fail_memory(err, name.len);
    memcpy(entry->name, name.ptr, name.len);
    entry->name_size = name.len;
    entry->stem = (struct csn_str){ entry->name, name.len };
    csni_store_rebuild_tables(store);
    return CSN_OK;
}

/* The last entry goes behind those that were given before. What was found meanwhile stays open. */
static void give_last_entry(struct csn_store *store) {
    struct csni_store_entry *items = store->entries.items, entry = items[store->entries.count - 1];
    const size_t at = store->given_count++, found = store->entries.count - store->given_count;
    if (!found) return;
    memmove(&items[at + 1], &items[at], found * sizeof *items);
    items[at] = entry;
    csni_store_rebuild_tables(store);
}

/* `name` NULL: by the file's name. */
static csn_status add_given(struct csn_store *store, const struct csn_str *name, const char *path, const struct csn_index **out,
                            struct csn_error *err) {
    struct csn_error why = CSN_ERROR_INIT;
    const size_t count = store->entries.count;
    struct csni_store_entry *entry = csni_store_open_entry(store, csni_str(path), false, &why);
    if (!entry) return csni_fail_memory(err, sizeof *entry);
    if (!entry->index) {
        csn_status status = entry->status < 0 ? entry->status : CSN_E_UNSUPPORTED;
        if (err) *err = why;
        if (err && !why.text[0]) csni_fail(err, status, NULL, 0, "%s", csn_status_name(status));
        csni_store_close_from(store, count);
        return status;
    }
    csn_status status = name ? name_entry(store, entry, *name, err) : CSN_OK;
    if (status < 0) {
        csni_store_close_from(store, count);
        return status;
    }
    if (out) *out = entry->index;
    give_last_entry(store);
    return CSN_OK;
}

csn_status csn_store_add_index(struct csn_store *store, const char *path, const struct csn_index **out, struct csn_error *err) {
    return add_given(store, NULL, path, out, err);
}

csn_status csn_store_add_named_index(struct csn_store *store, struct csn_str name, const char *path, const struct csn_index **out,
                                     struct csn_error *err) {
    return add_given(store, &name, path, out, err);
}

size_t csn_store_given_count(const struct csn_store *store) { return store->given_count; }

struct csn_str csn_store_given_name(const struct csn_store *store, size_t i) { return store->entries.items[i].stem; }

const char *csn_store_given_path(const struct csn_store *store, size_t i) { return store->entries.items[i].path; }

/* ---- finding ---- */

/* PATH.gsym, then an index that PATH carries. */
static csn_status find_beside(struct csni_store_query *query) {
    char path[CSNI_STORE_PATH_SIZE];
    struct csn_str name = query->image;
    if (query->is_own_path || !name.len || name.len >= sizeof path - sizeof ".gsym" || name.ptr[0] != '/' || memchr(name.ptr, 0, name.len))
        return CSN_NONE;
    snprintf(path, sizeof path, "%.*s.gsym", (int)name.len, name.ptr);
    csn_status status = csni_store_try_if_there(query, CSN_STORE_PLACE_BESIDE, path, false);
    path[name.len] = 0;
    return status == CSN_NONE ? csni_store_try_if_there(query, CSN_STORE_PLACE_BESIDE, path, true) : status;
}

static csn_status find_anywhere(struct csni_store_query *query, const struct csn_store_module *module) {
    const struct csn_store_options *options = &query->store->options;
    if (!query->name.len && !query->id.size) return csni_store_find_only_given(query);
    csn_status status = query->id.size ? csni_store_find_open_by_id(query) : CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < options->folder_count; i++)
        status = csni_store_find_in_folder_by_id(query, options->folders[i]);
    if (status == CSN_NONE) status = csni_store_find_given_by_name(query);
    if (status == CSN_NONE) status = csni_store_find_in_folders_by_name(query);
    if (status == CSN_NONE) status = csni_store_find_given_loosely(query);
    if (status == CSN_NONE && (options->flags & CSN_STORE_BESIDE)) status = find_beside(query);
    if (status == CSN_NONE && options->convert) status = csni_store_find_by_converting(query, module);
    return status;
}

csn_status csn_store_find(struct csn_store *store, const struct csn_store_module *given, const struct csn_index **out,
                          struct csn_store_explanation *explanation, struct csn_error *err) {
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    CSNI_TRY(csni_options_copy(&module, sizeof module, given, given->struct_size, err));
    struct csni_store_query query = { .store = store, .name = module.name, .base_name = csni_store_base_name(module.name),
                                      .image = module.image.len ? module.image : module.name,
                                      .is_own_path = !module.image.len && csni_is_own_path(module.name),
                                      .id = csni_store_id_of(module.build_id, module.build_id_size),
                                      .explanation = explanation, .err = err };
    csni_explanation_clear(explanation);
    csni_store_forget_misses(store);
    csn_status status = module.index.len ? csni_store_try(&query, CSN_STORE_PLACE_NAMED, module.index)
                                         : find_anywhere(&query, &module);
    if (status == CSN_OK) *out = query.found;
    return status;
}
