/* The index of a module that has none: from the cache, its image, or a debug file with its build id. */
#define _GNU_SOURCE
#include "open/opener.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "base/hex.h"
#include "base/own_path.h"

enum { PATH_SIZE = 4096, ID_BYTES_MIN = 4, ARCH_SIZE = sizeof ((struct csni_slice *)NULL)->arch };

/* One search. */
struct module_search {
    struct csn_opener *opener;
    const struct csn_store_module *module;
    struct csn_store_explanation *explanation;
    struct csn_index **out;
    struct csn_convert_report *report;
    struct csn_error *err;
};

static csn_status explain(const struct module_search *search, uint32_t place, csn_status status, const char *path,
                          const char *text) {
    const struct csn_store_location location = { .place = place, .status = status, .path = csni_str(path), .text = csni_str(text) };
    return csn_store_explanation_add(search->explanation, &location, search->err);
}

/* ---- the cache ---- */

static csn_status find_in_cache(struct module_search *search, const struct csni_cache_key *key) {
    struct csn_cache *cache = search->opener->options.cache;
    struct csni_cache_read read;
    struct csn_error why = CSN_ERROR_INIT;
    char path[CSNI_CACHE_PATH_SIZE];
    if (!cache || !key->size || !csni_cache_path(cache, key, ".gsym", path)) return CSN_NONE;
    csn_status status = csni_cache_read(cache, key, false, &read, &why);
    if (status == CSN_OK && read.meta.flags & CSN_CACHE_SYMBOLS_ONLY) {
        csni_cache_read_close(&read);
        CSNI_TRY(explain(search, CSN_STORE_PLACE_CACHE, CSN_NONE, path, "it has symbols only; debug information is searched"));
        return CSN_NONE;
    }
    const struct csn_index_options options = { .struct_size = sizeof options, .allocator = search->opener->options.allocator };
    if (status == CSN_OK) status = csni_cache_open_index(&read, &options, search->out, &why);
    CSNI_TRY(explain(search, CSN_STORE_PLACE_CACHE, status, path, status < 0 ? csn_error_text(&why) : ""));
    return status < 0 && status != CSN_E_MEMORY ? CSN_NONE : status;
}

/* ---- the image ---- */

static bool image_path(const struct module_search *search, char out[PATH_SIZE]) {
    static const char deleted[] = " (deleted)";
    struct csn_str name = search->module->image.len ? search->module->image : search->module->name;
    struct stat st;
    if (!search->module->image.len && csni_is_own_path(name)) return false;
    if (!name.len || name.len >= PATH_SIZE || name.ptr[0] != '/' || memchr(name.ptr, 0, name.len)) return false;
    memcpy(out, name.ptr, name.len);
    out[name.len] = 0;
    if (search->module->file) return true;
    size_t suffix = sizeof deleted - 1;
    /* The file that has the path now is another one, unless its build id is the module's. */
    if (search->module->build_id_size && stat(out, &st) != 0 && name.len > suffix &&
        strcmp(out + name.len - suffix, deleted) == 0)
        out[name.len - suffix] = 0;
    return stat(out, &st) == 0 && S_ISREG(st.st_mode);
}

static void use_file(struct csni_image *image, const struct csn_file *file) {
    image->file = file;
    image->whole = image->bytes = (struct csni_span){ csn_file_bytes(file), csn_file_size(file) };
}

static csn_status open_file(struct csni_image *image, struct csn_file **out, struct csn_error *err) {
    csn_status status = csn_file_open(image->path, out, err);
    if (status == CSN_OK) use_file(image, *out);
    return status;
}

/* Ids may have been cut: GSYM files of version 1 keep 20 bytes, and logs fewer. */
static bool is_of_module(const struct module_search *search, const struct csni_image *image) {
    size_t size = search->module->build_id_size, own = image->opened->build_id_size;
    if (size > own) size = own;
    return !size || !search->module->build_id_size
           || (size >= ID_BYTES_MIN && memcmp(search->module->build_id, image->opened->build_id, size) == 0);
}

static csn_status refuse_image(struct module_search *search, const struct csni_image *image) {
    const struct csn_opener_options *options = &search->opener->options;
    char text[512];
    struct csni_id_shown has = csni_id_show(image->opened->build_id, image->opened->build_id_size);
    struct csni_id_shown needs = csni_id_show(search->module->build_id, search->module->build_id_size);
    snprintf(text, sizeof text, "has another build id than the module: %s instead of %s; not used", has.text, needs.text);
    if (options->report) options->report(options->report_context, image->path, text);
    CSNI_TRY(explain(search, CSN_STORE_PLACE_IMAGE, CSN_E_FORMAT, image->path, text));
    return CSN_NONE;
}

/* Identifies the image; of a universal file the one that is the module's, if the module's id tells. image->arch gets `arch`. */
static csn_status identify(struct module_search *search, struct csni_image *image, char arch[ARCH_SIZE]) {
    const struct csn_allocator *alloc = search->opener->alloc;
    struct csni_slice *slices;
    uint32_t count, chosen = 0;
    csn_status status = CSN_OK;
    bool is_object = csni_object_recognize(image->whole);
    if (!is_object || csni_object_slices(image->whole, alloc, &slices, &count, NULL) != CSN_OK)
        return csni_image_identify(image, search->err);
    for (uint32_t i = 0; status == CSN_OK && count > 1 && search->module->build_id_size && i < count; i++) {
        image->bytes = slices[i].file;
        status = csni_image_identify(image, search->err);
        if (image->opened->build_id_size && is_of_module(search, image)) chosen = i + 1;
        if (chosen) break;
    }
    image->bytes = count == 1 ? slices[0].file : image->whole;
    if (chosen) {
        image->bytes = slices[chosen - 1].file;
        image->arch = memcpy(arch, slices[chosen - 1].arch, ARCH_SIZE);
    }
    csni_free(alloc, slices, count * sizeof *slices);
    return status == CSN_OK ? csni_image_identify(image, search->err) : status;
}

/* An image that does not name its build cannot be proved to be the module's. */
static csn_status refuse_unknown(struct module_search *search, const struct csni_image *image) {
    CSNI_TRY(explain(search, CSN_STORE_PLACE_IMAGE, CSN_E_FORMAT, image->path, "it has no build id, the module has one"));
    return CSN_NONE;
}

static csn_status open_image(struct module_search *search, struct csni_image *image) {
    struct csn_error why = CSN_ERROR_INIT;
    char arch[ARCH_SIZE];
    const struct csn_index_options options = { .struct_size = sizeof options, .allocator = search->opener->options.allocator };
    CSNI_TRY(identify(search, image, arch));
    if (search->module->build_id_size && !image->opened->build_id_size) return refuse_unknown(search, image);
    if (!is_of_module(search, image)) return refuse_image(search, image);
    csn_status status = csni_image_open(image, &options, search->out, &why);
    CSNI_TRY(explain(search, CSN_STORE_PLACE_IMAGE, status, image->path, status < 0 ? csn_error_text(&why) : ""));
    return status < 0 && status != CSN_E_MEMORY ? CSN_NONE : status;
}

static csn_status find_by_image(struct module_search *search) {
    const struct csn_store_module *module = search->module;
    char path[PATH_SIZE], shown[PATH_SIZE];
    struct csn_opened opened = CSN_OPENED_INIT;
    struct csn_error why = CSN_ERROR_INIT;
    struct csni_image image = { .opener = search->opener, .path = path, .opened = &opened, .report = search->report };
    struct csn_file *file = NULL;
    csn_status status = CSN_OK;
    if (!image_path(search, path)) return CSN_NONE;
    if (module->image.len && module->name.len < sizeof shown) {
        snprintf(shown, sizeof shown, "%.*s", (int)module->name.len, module->name.ptr);
        image.shown_path = shown;
    }
    if (module->file) use_file(&image, module->file);
    else status = open_file(&image, &file, &why);
    if (status < 0) {
        CSNI_TRY(explain(search, CSN_STORE_PLACE_IMAGE, status, path, csn_error_text(&why)));
        return CSN_NONE;
    }
    if (csn_is_input(image.bytes.ptr, image.bytes.size)) status = open_image(search, &image);
    else
        status =
            explain(search, CSN_STORE_PLACE_IMAGE, CSN_E_UNSUPPORTED, path, "not an object file") < 0 ? CSN_E_MEMORY : CSN_NONE;
    csn_file_close(file);
    return status;
}

/* ---- a debug file ---- */

static csn_status open_companion(struct module_search *search, const struct csni_cache_key *key, const char *path) {
    struct csn_opened opened = CSN_OPENED_INIT;
    struct csn_error why = CSN_ERROR_INIT;
    const struct csn_index_options options = { .struct_size = sizeof options, .allocator = search->opener->options.allocator };
    struct csni_image image = { .opener = search->opener, .path = path, .opened = &opened, .report = search->report };
    char arch[ARCH_SIZE];
    struct csn_file *file;
    csn_status status = open_file(&image, &file, &why);
    if (status == CSN_OK) {
        status = identify(search, &image, arch);
        if (image.key.size) image.key = *key;
        if (status == CSN_OK) status = csni_image_open(&image, &options, search->out, &why);
        csn_file_close(file);
    }
    CSNI_TRY(explain(search, CSN_STORE_PLACE_DEBUG_FILE, status, path, status < 0 ? csn_error_text(&why) : ""));
    return status < 0 && status != CSN_E_MEMORY ? CSN_NONE : status;
}

static csn_status ask(struct module_search *search, struct csn_companion_search *companions, const struct csni_cache_key *key,
                      const char *where) {
    struct csn_companion found;
    struct csn_error why = CSN_ERROR_INIT;
    const struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_DEBUG_FILE,
                                                   .id = search->module->build_id, .id_size = search->module->build_id_size };
    csn_status status = csn_companion_search_resolve(companions, &request, &found, &why);
    if (status == CSN_OK) {
        status = found.path ? open_companion(search, key, found.path) : CSN_NONE;
        if (found.release) found.release(&found);
        return status;
    }
    if (status == CSN_E_MEMORY) return csni_fail_memory(search->err, 0);
    CSNI_TRY(explain(search, CSN_STORE_PLACE_DEBUG_FILE, status, where, why.text[0] ? csn_error_text(&why) : ""));
    return CSN_NONE;
}

static csn_status ask_servers(struct module_search *search, const struct csni_cache_key *key) {
    static const char servers[] = "debuginfod";
    struct csn_opener *opener = search->opener;
    struct csn_cache *cache = opener->options.cache;
    if (!opener->has_servers) return CSN_NONE;
    if (cache && csni_cache_is_negative(cache, key, opener->settings)) {
        CSNI_TRY(explain(search, CSN_STORE_PLACE_DEBUG_FILE, CSN_NONE, servers, "it was not found a short time ago"));
        return CSN_NONE;
    }
    csn_status status = ask(search, opener->search, key, servers);
    if (status == CSN_NONE && cache) csni_cache_put_negative(cache, key, opener->settings);
    return status;
}

static csn_status find_module(struct module_search *search) {
    const struct csn_store_module *module = search->module;
    const struct csni_cache_key key = csni_cache_key_of(module->build_id, module->build_id ? module->build_id_size : 0, NULL);
    /* A file that is known to be the module's is asked first whether an entry of the cache was made from it. */
    csn_status status = module->file ? find_by_image(search) : CSN_NONE;
    if (status == CSN_NONE) status = find_in_cache(search, &key);
    if (status == CSN_NONE && !module->file) status = find_by_image(search);
    if (status != CSN_NONE || !key.size) return status;
    status = ask(search, search->opener->local, &key, "debug folders");
    return status == CSN_NONE ? ask_servers(search, &key) : status;
}

csn_status csn_opener_find(void *opener, const struct csn_store_module *given, struct csn_index **out,
                           struct csn_store_explanation *explanation, struct csn_error *err) {
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    struct module_search search = { .opener = opener, .module = &module, .explanation = explanation, .out = out, .err = err };
    CSNI_TRY(csni_options_copy(&module, sizeof module, given, given->struct_size, err));
    if (!module.build_id) module.build_id_size = 0;
    search.report = csni_alloc_zeroed(search.opener->alloc, 1, sizeof *search.report);
    if (!search.report) return csni_fail_memory(err, sizeof *search.report);
    csn_status status = find_module(&search);
    csni_free(search.opener->alloc, search.report, sizeof *search.report);
    return status;
}
