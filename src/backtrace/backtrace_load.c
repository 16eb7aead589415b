/* The indexes of the modules: beside the file, within it, or converted. */
#define _GNU_SOURCE
#include <string.h>

#include "backtrace/backtrace_private.h"
#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "base/core/sized.h"

enum { ID_BYTES_MIN = 4 };

void csn_backtrace_options_init(struct csn_backtrace_options *options) {
    *options = (struct csn_backtrace_options)CSN_BACKTRACE_OPTIONS_INIT;
}

/* ---- opening ---- */

/* An index of another build would give wrong names. GSYM files of version 1 keep 20 bytes of an id. */
static bool is_index_of(const struct csni_backtrace_module *module, const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    size_t size = module->shown.build_id_size < info.uuid_size ? module->shown.build_id_size : info.uuid_size;
    return !size || (size >= ID_BYTES_MIN && memcmp(info.uuid, module->build_id, size) == 0);
}

static struct csn_index_options index_options(const struct csn_backtrace *backtrace) {
    return (struct csn_index_options){ .struct_size = sizeof(struct csn_index_options), .allocator = backtrace->options.allocator,
                                       .demangle = backtrace->options.demangle,
                                       .demangle_context = backtrace->options.demangle_context };
}

/* Readers see the index with the release of `with_index`. */
static void set_index(struct csni_backtrace_module *module, struct csn_index *index) {
    module->index = index;
    module->copy = module->shown;
    module->copy.index = index;
    atomic_store_explicit(&module->with_index, &module->copy, memory_order_release);
}

static bool take_index(struct csni_backtrace_module *module, csn_status status, struct csn_index *index) {
    if (status != CSN_OK) return false;
    if (!is_index_of(module, index)) {
        csn_index_close(index);
        return false;
    }
    set_index(module, index);
    return true;
}

static void open_present_index(const struct csn_backtrace *backtrace, struct csni_backtrace_module *module) {
    const struct csn_index_options options = index_options(backtrace);
    static const char suffix[] = ".gsym";
    char beside[CSNI_BACKTRACE_PATH_SIZE];
    size_t len = strlen(module->path);
    struct csn_index *index = NULL;
    module->is_searched = true;
    /* The kernel's own module has a name without a path, and no file. */
    if (module->path[0] != '/' && module->open_path == module->path && !strchr(module->path, '/')) return;
    if (len + sizeof suffix <= sizeof beside) {
        memcpy(beside, module->path, len);
        memcpy(beside + len, suffix, sizeof suffix);
        csn_status status = csn_index_open_file(beside, &options, &index, NULL);
        if (take_index(module, status, index)) return;
    }
    csn_status status = csn_index_open_embedded(module->open_path, &options, &index, NULL);
    take_index(module, status, index);
}

static void convert_module(const struct csn_backtrace *backtrace, struct csni_backtrace_module *module) {
    struct csn_index *index = NULL;
    if (module->index || atomic_load_explicit(&module->is_settled, memory_order_relaxed) || !backtrace->options.convert) return;
    struct csn_backtrace_module shown = module->shown;
    shown.path = module->open_path;
    csn_status status = backtrace->options.convert(backtrace->options.convert_context, &shown, &index, NULL);
    take_index(module, status, index);
    atomic_store_explicit(&module->is_settled, true, memory_order_release);
}

bool csni_backtrace_is_open(const struct csn_backtrace *backtrace, uint64_t pc) {
    const struct csni_backtrace_module *module = csni_backtrace_module_of(backtrace, pc);
    return !module || (!atomic_load_explicit(&module->with_index, memory_order_acquire)
                       && !atomic_load_explicit(&module->is_settled, memory_order_acquire));
}

/* ---- the whole ---- */

static csn_status load_present(struct csn_backtrace *backtrace, struct csn_error *err) {
    CSNI_TRY(csni_backtrace_list_modules(backtrace, err));
    for (struct csni_backtrace_module *module = backtrace->modules; module; module = module->next)
        if (!module->is_searched) open_present_index(backtrace, module);
    return CSN_OK;
}

static void convert_pcs(struct csn_backtrace *backtrace, const uint64_t *pcs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct csni_backtrace_module *module = csni_backtrace_module_of(backtrace, pcs[i]);
        if (module) convert_module(backtrace, module);
    }
}

csn_status csn_backtrace_load(struct csn_backtrace *backtrace, const uint64_t *pcs, size_t count, struct csn_error *err) {
    pthread_mutex_lock(&backtrace->mutex);
    csn_status status = load_present(backtrace, err);
    if (status >= 0 && pcs) convert_pcs(backtrace, pcs, count);
    for (struct csni_backtrace_module *module = backtrace->modules; status >= 0 && !pcs && module; module = module->next)
        convert_module(backtrace, module);
    pthread_mutex_unlock(&backtrace->mutex);
    return status;
}

csn_status csn_backtrace_create(const struct csn_backtrace_options *options, struct csn_backtrace **out, struct csn_error *err) {
    struct csn_backtrace_options known = CSN_BACKTRACE_OPTIONS_INIT;
    if (options) CSNI_TRY(csni_options_copy(&known, sizeof known, options, options->struct_size, err));
    struct csn_backtrace *backtrace = csni_alloc_zeroed(known.allocator, 1, sizeof *backtrace);
    if (!backtrace) return csni_fail_memory(err, sizeof *backtrace);
    backtrace->alloc = csni_allocator_or_default(known.allocator);
    backtrace->options = known;
    pthread_mutex_init(&backtrace->mutex, NULL);
    csn_status status = load_present(backtrace, err);
    if (status < 0) {
        csn_backtrace_destroy(backtrace);
        return status;
    }
    *out = backtrace;
    return CSN_OK;
}

void csn_backtrace_destroy(struct csn_backtrace *backtrace) {
    if (!backtrace) return;
    for (struct csni_backtrace_module *module = backtrace->modules, *next; module; module = next) {
        next = module->next;
        csn_index_close(module->index);
        csni_free(backtrace->alloc, module, module->memory_size);
    }
    struct csni_backtrace_list *list = atomic_load_explicit(&backtrace->list, memory_order_relaxed);
    for (struct csni_backtrace_list *older; list; list = older) {
        older = list->older;
        csni_free(backtrace->alloc, list, sizeof *list + list->count * sizeof *list->segments);
    }
    pthread_mutex_destroy(&backtrace->mutex);
    csni_free(backtrace->alloc, backtrace, sizeof *backtrace);
}
