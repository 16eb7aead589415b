/* Modules' names and ids; finding their indexes through the library's store. */
#define _GNU_SOURCE
#include "input/module_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/inspect.h>

#include "input/open_index.h"
#include "ui/cli_message.h"

struct csn_str base_name_of(struct csn_str path) {
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' || path.ptr[i - 1] == '\\')
            return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b) {
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

bool build_id_parse(struct csn_str text, struct build_id *out) {
    struct build_id id = { .size = 0 };
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = hex_digit(text.ptr[i]);
        if (text.ptr[i] == '-') continue;
        if (value < 0) return false;
        if (digits++ >= 2 * sizeof(id.bytes)) continue;
        uint8_t *byte = &id.bytes[(digits - 1) / 2];
        *byte = (uint8_t)(*byte << 4 | value);
    }
    if (!digits || digits % 2) return false;
    id.size = digits / 2 < sizeof(id.bytes) ? digits / 2 : sizeof(id.bytes);
    *out = id;
    return true;
}

bool build_id_parse_guid(struct csn_str text, struct build_id *out) {
    static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    char digits[32];
    bool is_known = false;
    if (text.len < sizeof(digits)) return false;
    for (size_t i = 0; i < sizeof(digits); i++) {
        digits[i] = text.ptr[2 * order[i / 2] + i % 2];
        is_known |= digits[i] != '0';
    }
    return is_known && build_id_parse((struct csn_str){ digits, sizeof(digits) }, out);
}

/* ---- the store ---- */

/* An object file is converted; without a search, in memory and without looking for others. What is wrong is reported here. */
static csn_status open_for_store(void *context, const char *path, struct csn_index **out, void **out_handle,
                                 struct csn_error *err) {
    struct symbol_search *search = context;
    const struct companion_values companions = { .none = !search || !search->opener };
    (void)err;
    struct opened_index *opened = malloc(sizeof(*opened));
    if (!opened) return CSN_E_MEMORY;
    if (!open_index_through(path, &companions, search, opened)) {
        free(opened);
        return CSN_E_UNSUPPORTED;
    }
    *out = opened->index;
    *out_handle = opened;
    return CSN_OK;
}

static void close_for_store(void *context, struct csn_index *index, void *handle) {
    (void)context, (void)index;
    close_index(handle);
    free(handle);
}

static void report_for_store(void *context, const char *path, const char *text) {
    (void)context;
    cli_error(path, "%s", text);
}

/* NAME=FILE names the modules that the file is for; a file whose own name has a '=' is one all the same. */
const char *index_option_path(const char *text) {
    const char *equals = strchr(text, '=');
    return !equals || equals == text || access(text, F_OK) == 0 ? text : equals + 1;
}

static csn_status add_index(struct csn_store *store, const char *text) {
    const char *path = index_option_path(text);
    if (path == text) return csn_store_add_index(store, text, NULL, NULL);
    const struct csn_str name = { text, (size_t)(path - 1 - text) };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_store_add_named_index(store, name, path, NULL, &err);
    if (status == CSN_E_ARGUMENT) cli_error(NULL, "%s", csn_error_text(&err));
    return status;
}

bool module_store_create(const struct text_list *files, const struct text_list *folders, struct symbol_search *search,
                         struct csn_store **out) {
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    options.folders = folders->items;
    options.folder_count = folders->count;
    options.open = open_for_store;
    options.close = close_for_store;
    options.report = report_for_store;
    options.context = search;
    if (search && search->opener) {
        options.flags = CSN_STORE_BESIDE;
        options.convert = symbol_search_find;
        options.convert_context = search;
    }
    if (csn_store_create(&options, out, NULL) < 0) {
        cli_error_memory("indexes");
        return false;
    }
    for (size_t i = 0; i < files->count; i++) {
        csn_status status = add_index(*out, files->items[i]);
        if (status == CSN_E_MEMORY) cli_error_memory("indexes");
        if (status < 0) return false;
    }
    for (size_t i = 0; i < folders->count; i++) {
        if (access(folders->items[i], X_OK) == 0) continue;
        cli_error(folders->items[i], "not a folder that can be read");
        return false;
    }
    return true;
}

/* A line for each place. */
static void report_places(const struct module_names *names, const struct csn_store_explanation *explanation) {
    size_t count = csn_store_explanation_count(explanation);
    cli_report("%.*s: no symbols; searched:", (int)names->name.len, names->name.ptr);
    for (size_t i = 0; i < count; i++) {
        struct csn_store_location at;
        csn_store_explanation_get(explanation, i, &at);
        const char *what = at.status < 0 ? "refused" : "nothing";
        cli_report("  %s: %.*s%s%s%s%.*s", csn_store_place_text(at.place), (int)at.path.len, at.path.ptr,
                   at.path.len ? ": " : "", what, at.text.len ? ": " : "", (int)at.text.len, at.text.ptr);
    }
    if (!count) cli_report("  nowhere: its path and build id are unknown");
}

/* "./orders" and "build/orders" are files of the folder that the log is read in, if they are there: a program that was started by
 * such a path prints it. NULL: it is none; the caller frees it. */
static char *relative_file(struct csn_str name) {
    if (!name.len || name.ptr[0] == '/' || !memchr(name.ptr, '/', name.len) || memchr(name.ptr, 0, name.len)) return NULL;
    char *path = strndup(name.ptr, name.len), *found = path ? realpath(path, NULL) : NULL;
    free(path);
    return found;
}

const struct csn_index *module_store_find(struct csn_store *store, const struct module_names *names, bool explain) {
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    char *file = relative_file(names->name);
    struct csn_store_explanation *explanation = NULL;
    const struct csn_index *index = NULL;
    module.name = file ? (struct csn_str){ file, strlen(file) } : names->name;
    module.index = names->index;
    module.build_id = names->id.bytes;
    module.build_id_size = names->id.size;
    module.image = names->image;
    module.file = names->file;
    if (explain && csn_store_explanation_create(NULL, &explanation, NULL) < 0) explanation = NULL;
    csn_status status = csn_store_find(store, &module, &index, explanation, NULL);
    if (status == CSN_NONE && explanation) report_places(names, explanation);
    csn_store_explanation_destroy(explanation);
    free(file);
    return status == CSN_OK ? index : NULL;
}

uint64_t module_base_address(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.base_address;
}

uint64_t module_bias(const struct csn_process_module *module, const struct csn_index *index) {
    const bool is_image = module->flags & CSN_PROCESS_MODULE_IMAGE;
    return csn_process_module_bias(module, is_image ? csn_index_image_base(index) : module_base_address(index));
}
