/* The indexes that a store has open, and whether one of them serves a module. */
#include <stdio.h>
#include <unistd.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/hash.h"
#include "base/hex.h"
#include "store/index_store.h"

enum { NAME_SHOWN_MAX = 128, MISSES_MAX = 1 << 14 };

struct csn_str csni_store_base_name(struct csn_str path) {
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' || path.ptr[i - 1] == '\\') return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}

struct csni_store_id csni_store_id_of(const uint8_t *bytes, size_t size) {
    struct csni_store_id id = { .size = !bytes ? 0 : size < CSNI_STORE_ID_MAX ? size : CSNI_STORE_ID_MAX };
    if (id.size) memcpy(id.bytes, bytes, id.size);
    return id;
}

bool csni_store_id_equal(const struct csni_store_id *a, const struct csni_store_id *b) {
    size_t size = a->size < b->size ? a->size : b->size;
    return size >= CSNI_STORE_ID_MIN && memcmp(a->bytes, b->bytes, size) == 0;
}

/* ---- opening and closing ---- */

static void close_entry(struct csn_store *store, struct csni_store_entry *entry) {
    bool is_openers = store->options.close && !entry->is_within_image && !entry->is_converted;
    if (entry->index && is_openers) store->options.close(store->options.context, entry->index, entry->handle);
    else csn_index_close(entry->index);
    csni_free(store->alloc, entry->path, entry->path_len + 1);
    csni_free(store->alloc, entry->name, entry->name_size);
    csni_free(store->alloc, entry->error, entry->error_size);
}

void csni_store_close_from(struct csn_store *store, size_t first) {
    while (store->entries.count > first) close_entry(store, &store->entries.items[--store->entries.count]);
    csni_store_rebuild_tables(store);
}

void csni_store_forget_misses(struct csn_store *store) {
    size_t kept = 0;
    if (store->entries.count - store->open_count <= MISSES_MAX) return;
    for (size_t i = 0; i < store->entries.count; i++) {
        struct csni_store_entry *entry = &store->entries.items[i];
        if (entry->index) store->entries.items[kept++] = *entry;
        else close_entry(store, entry);
    }
    store->entries.count = kept;
    csni_store_rebuild_tables(store);
}

struct csn_str csni_store_stem(struct csn_str path) {
    static const char *const suffixes[] = { ".gsym", ".bsym", ".sym" };
    struct csn_str name = csni_store_base_name(path);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i]);
        if (name.len <= size || memcmp(name.ptr + name.len - size, suffixes[i], size) != 0) continue;
        name.len -= size;
        break;
    }
    return name;
}

static csn_status open_index(struct csn_store *store, struct csni_store_entry *entry, struct csn_error *err) {
    if (entry->is_within_image) return csn_index_open_embedded(entry->path, NULL, &entry->index, err);
    if (store->options.open) return store->options.open(store->options.context, entry->path, &entry->index, &entry->handle, err);
    return csn_index_open_file(entry->path, NULL, &entry->index, err);
}

/* Why it cannot be opened is for explanations alone: it may be lost where memory is short. */
static void keep_error(struct csn_store *store, struct csni_store_entry *entry, const struct csn_error *why) {
    const char *text = why->text[0] ? why->text : csn_status_name(entry->status);
    entry->error_size = strlen(text) + 1;
    entry->error = csni_alloc(store->alloc, entry->error_size);
    if (entry->error) memcpy(entry->error, text, entry->error_size);
    else entry->error_size = 0;
}

/* After the last entry, not counted yet. NULL: no memory. */
static struct csni_store_entry *new_entry(struct csn_store *store, struct csn_str path) {
    if (!csni_store_reserve_entry(store)) return NULL;
    struct csni_store_entry *entry = &store->entries.items[store->entries.count];
    *entry = (struct csni_store_entry){ .path_len = path.len };
    entry->path = csni_alloc(store->alloc, path.len + 1);
    if (!entry->path) return NULL;
    if (path.len) memcpy(entry->path, path.ptr, path.len);
    entry->path[path.len] = 0;
    return entry;
}

struct csni_store_entry *csni_store_open_entry(struct csn_store *store, struct csn_str path, bool within_image,
                                               struct csn_error *why) {
    struct csni_store_entry *entry = new_entry(store, path);
    if (!entry) return NULL;
    entry->is_within_image = within_image;
    entry->stem = csni_store_stem((struct csn_str){ entry->path, path.len });
    entry->status = open_index(store, entry, why);
    if (entry->status == CSN_OK) {
        struct csn_index_info info;
        csn_index_get_info(entry->index, &info, sizeof(info));
        entry->id = csni_store_id_of(info.uuid, info.uuid_size);
    } else {
        entry->index = NULL;
        keep_error(store, entry, why);
    }
    csni_store_count_entry(store);
    return entry;
}

/* ---- one location ---- */

/* Once for each file, also when it was closed meanwhile. Without memory it may come again. */
static bool is_first_report(struct csn_store *store, const struct csni_store_entry *entry) {
    const struct csni_store_reported report = { csni_hash_bytes(entry->path, entry->path_len) ^ entry->is_within_image };
    const size_t count = store->reported.count, at = csni_lower_bound(store->reported.items, count, hash, report.hash);
    if (at < count && store->reported.items[at].hash == report.hash) return false;
    if (!csni_vec_reserve(&store->reported, count + 1)) return true;
    memmove(&store->reported.items[at + 1], &store->reported.items[at], (count - at) * sizeof report);
    store->reported.items[at] = report;
    store->reported.count++;
    return true;
}

static void report_other_id(const struct csni_store_query *query, const struct csni_store_entry *entry) {
    struct csn_store *store = query->store;
    char text[NAME_SHOWN_MAX + 4 * CSNI_STORE_ID_MAX + 80], has[2 * CSNI_STORE_ID_MAX + 1], needs[2 * CSNI_STORE_ID_MAX + 1];
    if (!store->options.report || !is_first_report(store, entry)) return;
    csni_hex_text(entry->id.bytes, entry->id.size, has);
    csni_hex_text(query->id.bytes, query->id.size, needs);
    snprintf(text, sizeof text, "has another build id than the module '%.*s': %s instead of %s; not used",
             (int)(query->base_name.len < NAME_SHOWN_MAX ? query->base_name.len : NAME_SHOWN_MAX), query->base_name.ptr,
             has, needs);
    store->options.report(store->options.context, entry->path, text);
}

/* Breakpad's ids have their bytes in another order. */
static bool needs_id(uint32_t place) { return place != CSN_STORE_PLACE_FOLDER_BREAKPAD; }

static bool is_of_other_build(const struct csni_store_query *query, const struct csni_store_entry *entry) {
    return query->id.size && entry->id.size && !csni_store_id_equal(&query->id, &entry->id);
}

/* An index that does not name its build serves a module that does if no other proves to be of that. */
static bool is_put_off(struct csni_store_query *query, const struct csni_store_entry *entry) {
    if (!query->in_folders.is_wanted || !query->id.size || entry->id.size) return false;
    if (!query->in_folders.unproved) query->in_folders.unproved = (size_t)(entry - query->store->entries.items) + 1;
    return true;
}

static void refuse_entry(struct csni_store_query *query, const struct csni_store_entry *entry) {
    if (!query->in_folders.is_loose) report_other_id(query, entry);
    else if (!query->in_folders.refused) query->in_folders.refused = (size_t)(entry - query->store->entries.items) + 1;
}

/* Whether the entry serves the module; what it is for is recorded. */
static csn_status take_entry(struct csni_store_query *query, uint32_t place, const struct csni_store_entry *entry) {
    struct csn_str path = { entry->path, entry->path_len };
    if (!entry->index) {
        CSNI_TRY(csni_store_record(query, place, entry->status < 0 ? entry->status : CSN_NONE, path, entry->error));
        return CSN_NONE;
    }
    if (needs_id(place) && is_of_other_build(query, entry)) {
        char text[4 * CSNI_STORE_ID_MAX + 64], has[2 * CSNI_STORE_ID_MAX + 1], needs[2 * CSNI_STORE_ID_MAX + 1];
        csni_hex_text(entry->id.bytes, entry->id.size, has);
        csni_hex_text(query->id.bytes, query->id.size, needs);
        snprintf(text, sizeof text, "it has another build id: %s instead of %s", has, needs);
        refuse_entry(query, entry);
        CSNI_TRY(csni_store_record(query, place, CSN_E_FORMAT, path, text));
        return CSN_NONE;
    }
    if (is_put_off(query, entry)) return CSN_NONE;
    query->found = entry->index;
    return csni_store_record(query, place, CSN_OK, path, NULL);
}

csn_status csni_store_take_undecided(struct csni_store_query *query) {
    struct csni_store_entry *items = query->store->entries.items;
    const struct csni_store_undecided *from = &query->in_folders;
    if (from->unproved) return take_entry(query, CSN_STORE_PLACE_FOLDER_BY_NAME, &items[from->unproved - 1]);
    if (from->refused) report_other_id(query, &items[from->refused - 1]);
    return CSN_NONE;
}

static struct csni_store_entry *entry_at(const struct csn_store *store, struct csn_str path, bool within_image) {
    struct csni_store_entry *entry = csni_store_first(store, CSNI_KEY_PATH, csni_store_path_hash(path));
    for (; entry; entry = csni_store_next(store, CSNI_KEY_PATH, entry))
        if (entry->is_within_image == within_image && csni_str_equal((struct csn_str){ entry->path, entry->path_len }, path))
            return entry;
    return NULL;
}

static csn_status try_path(struct csni_store_query *query, uint32_t place, struct csn_str path, bool within_image) {
    struct csn_error why = CSN_ERROR_INIT;
    struct csni_store_entry *entry = entry_at(query->store, path, within_image);
    if (!entry) entry = csni_store_open_entry(query->store, path, within_image, &why);
    if (!entry) return csni_fail_memory(query->err, path.len);
    return take_entry(query, place, entry);
}

csn_status csni_store_try(struct csni_store_query *query, uint32_t place, struct csn_str path) {
    if (path.len >= CSNI_STORE_PATH_SIZE || memchr(path.ptr, 0, path.len)) return CSN_NONE;
    return try_path(query, place, path, false);
}

csn_status csni_store_try_if_there(struct csni_store_query *query, uint32_t place, const char *path, bool within_image) {
    if (access(path, R_OK) == 0) return try_path(query, place, csni_str(path), within_image);
    CSNI_TRY(csni_store_record(query, place, CSN_NONE, csni_str(path), NULL));
    return CSN_NONE;
}

/* ---- among the open indexes ---- */

static bool is_given(const struct csn_store *store, const struct csni_store_entry *entry) {
    return entry < store->entries.items + store->given_count;
}

/* Of several indexes with one id a given one is meant, and of these the one with the module's name. */
static unsigned id_rank(const struct csni_store_query *query, const struct csni_store_entry *entry) {
    if (!is_given(query->store, entry)) return 0;
    return csni_str_equal(query->base_name, entry->stem) ? 2 : 1;
}

csn_status csni_store_find_open_by_id(struct csni_store_query *query) {
    static const struct csn_str nowhere = { "", 0 };
    const bool is_long = query->id.size >= CSNI_STORE_ID_MIN;
    struct csni_store_entry *entry = is_long ? csni_store_first(query->store, CSNI_KEY_ID, csni_store_id_hash(&query->id)) : NULL;
    struct csni_store_entry *best = NULL;
    for (; entry; entry = csni_store_next(query->store, CSNI_KEY_ID, entry))
        if (csni_store_id_equal(&entry->id, &query->id) && (!best || id_rank(query, entry) > id_rank(query, best))) best = entry;
    if (best) return take_entry(query, CSN_STORE_PLACE_OPEN_BY_ID, best);
    CSNI_TRY(csni_store_record(query, CSN_STORE_PLACE_OPEN_BY_ID, CSN_NONE, nowhere, NULL));
    return CSN_NONE;
}

/* Those that nobody gave serve the place where they were found: an earlier module of that name may be another one. */
csn_status csni_store_find_given_by_name(struct csni_store_query *query) {
    const struct csn_store *store = query->store;
    if (!query->base_name.len) return CSN_NONE;
    struct csni_store_entry *entry = csni_store_first(store, CSNI_KEY_NAME, csni_store_name_hash(query->base_name));
    csn_status status = CSN_NONE;
    for (; entry && status == CSN_NONE; entry = csni_store_next(store, CSNI_KEY_NAME, entry)) {
        if (is_given(store, entry) && csni_str_equal(query->base_name, entry->stem))
            status = take_entry(query, CSN_STORE_PLACE_OPEN_BY_NAME, entry);
    }
    return status;
}

static csn_status find_loose_name(struct csni_store_query *query, unsigned match) {
    const struct csn_store *store = query->store;
    struct csni_store_entry *entry = csni_store_first(store, CSNI_KEY_LOOSE, csni_store_loose_hash(query->base_name));
    csn_status status = CSN_NONE;
    for (; entry && status == CSN_NONE; entry = csni_store_next(store, CSNI_KEY_LOOSE, entry))
        if (is_given(store, entry) && csni_module_name_match(query->base_name, entry->stem) == match)
            status = take_entry(query, CSN_STORE_PLACE_OPEN_BY_NAME, entry);
    return status;
}

csn_status csni_store_find_given_loosely(struct csni_store_query *query) {
    csn_status status = CSN_NONE;
    if (!query->base_name.len) return CSN_NONE;
    for (unsigned match = CSNI_NAME_EXACT - 1; status == CSN_NONE && match; match--) status = find_loose_name(query, match);
    return status;
}

csn_status csni_store_find_only_given(struct csni_store_query *query) {
    return query->store->given_count == 1
               ? take_entry(query, CSN_STORE_PLACE_OPEN_BY_NAME, &query->store->entries.items[0])
               : CSN_NONE;
}

/* ---- by converting ---- */

static bool is_same_module(const struct csni_store_query *query, const struct csni_store_entry *entry) {
    const struct csni_store_id *a = &query->id, *b = &entry->id;
    return a->size == b->size && (!a->size || memcmp(a->bytes, b->bytes, a->size) == 0)
           && csni_str_equal((struct csn_str){ entry->path, entry->path_len }, query->image);
}

static csn_status convert(struct csni_store_query *query, const struct csn_store_module *module, struct csn_index **out) {
    const struct csn_store_options *options = &query->store->options;
    csn_status status = options->convert(options->convert_context, module, out, query->explanation, query->err);
    if (status != CSN_OK) *out = NULL;
    return status < 0 && status != CSN_E_MEMORY && status != CSN_E_IO ? CSN_NONE : status;
}

csn_status csni_store_find_by_converting(struct csni_store_query *query, const struct csn_store_module *module) {
    struct csn_store *store = query->store;
    struct csni_store_entry *entry = csni_store_first(store, CSNI_KEY_MODULE, csni_store_module_hash(query->image, &query->id));
    for (; entry; entry = csni_store_next(store, CSNI_KEY_MODULE, entry)) {
        if (!is_same_module(query, entry)) continue;
        query->found = entry->index;
        return entry->index ? CSN_OK : CSN_NONE;
    }
    entry = new_entry(store, query->image);
    if (!entry) return csni_fail_memory(query->err, query->image.len);
    entry->is_converted = true;
    entry->id = query->id;
    entry->stem = (struct csn_str){ "", 0 };
    csn_status status = convert(query, module, &entry->index);
    if (status < 0) {
        close_entry(store, entry);
        return status == CSN_E_MEMORY ? status : CSN_NONE;
    }
    entry->status = status;
    csni_store_count_entry(store);
    query->found = entry->index;
    return status;
}
