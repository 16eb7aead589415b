/* The stock resolver: its options, and one request from start to end. */
#define _GNU_SOURCE
#include "store/companion_search.h"

#include "base/core/fail.h"
#include "base/core/sized.h"

enum { ARENA_CHUNK = 4096 };

static const char *const default_dirs[] = { "/usr/lib/debug" };

/* ---- the search ---- */

/* NULL stays NULL. */
static csn_status copy_text(struct csni_arena *arena, const char **text, struct csn_error *err) {
    if (!*text) return CSN_OK;
    *text = csni_arena_copy(arena, *text, strlen(*text));
    return *text ? CSN_OK : csni_fail_memory(err, 0);
}

static csn_status copy_texts(struct csni_arena *arena, const char *const **texts, size_t count, struct csn_error *err) {
    if (!count) return CSN_OK;
    const char **copies = count < SIZE_MAX / sizeof *copies ? csni_arena_alloc(arena, count * sizeof *copies) : NULL;
    if (!copies) return csni_fail_memory(err, count * sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i] = (*texts)[i];
        if (!copies[i]) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "entry %zu of a list of paths is NULL", i);
        CSNI_TRY(copy_text(arena, &copies[i], err));
    }
    *texts = copies;
    return CSN_OK;
}

static csn_status set_up(struct csn_companion_search *search, struct csn_error *err) {
    struct csn_companion_search_options *options = &search->options;
    CSNI_TRY(copy_text(&search->arena, &options->debug_file, err));
    CSNI_TRY(copy_text(&search->arena, &options->object_prefix, err));
    CSNI_TRY(copy_texts(&search->arena, &options->debug_dirs, options->debug_dir_count, err));
    CSNI_TRY(copy_texts(&search->arena, &options->dwp_files, options->dwp_file_count, err));
    CSNI_TRY(copy_texts(&search->arena, &options->dwo_dirs, options->dwo_dir_count, err));
    CSNI_TRY(copy_texts(&search->arena, &options->symbol_servers, options->symbol_server_count, err));
    CSNI_TRY(copy_text(&search->arena, &options->download_dir, err));
    if (!options->debug_dir_count) {
        options->debug_dirs = default_dirs;
        options->debug_dir_count = sizeof default_dirs / sizeof *default_dirs;
    }
    return CSN_OK;
}

void csn_companion_search_options_init(struct csn_companion_search_options *options) {
    *options = (struct csn_companion_search_options)CSN_COMPANION_SEARCH_OPTIONS_INIT;
}

csn_status csn_companion_search_create(const struct csn_companion_search_options *given, struct csn_companion_search **out,
                                       struct csn_error *err) {
    struct csn_companion_search_options options = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    uint32_t unknown = options.flags & ~(uint32_t)(CSN_SEARCH_DEBUGINFOD | CSN_SEARCH_DEBUG_DIRS_ONLY);
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown search flags 0x%x", unknown);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_companion_search *search = csni_alloc_zeroed(alloc, 1, sizeof *search);
    if (!search) return csni_fail_memory(err, sizeof *search);
    search->alloc = alloc;
    search->options = options;
    csni_arena_init(&search->arena, alloc, ARENA_CHUNK);
    csn_status status = set_up(search, err);
    if (status < 0) csn_companion_search_destroy(search);
    else *out = search;
    return status;
}

void csn_companion_search_destroy(struct csn_companion_search *search) {
    if (!search) return;
    csni_arena_deinit(&search->arena);
    csni_free(search->alloc, search, sizeof *search);
}

/* ---- one request ---- */

static csn_status locate_companion(struct csni_locate_query *query) {
    switch (query->request->kind) {
    case CSN_COMPANION_DEBUG_FILE: return csni_locate_debug_file(query);
    case CSN_COMPANION_SUPPLEMENT: return csni_locate_supplement(query);
    case CSN_COMPANION_DWP: return csni_locate_dwp(query);
    case CSN_COMPANION_DWO: return csni_locate_dwo(query);
    case CSN_COMPANION_OBJECT: return csni_locate_object(query);
    case CSN_COMPANION_MAP: return csni_locate_map(query);
    case CSN_COMPANION_PDB: return csni_locate_pdb(query);
    case CSN_COMPANION_IMAGE: return csni_locate_image(query);
    default: return CSN_NONE; /* of a newer version */
    }
}

/* Nothing fits. Debug information of another build is worse than none, and having it there is somebody's mistake: an error.
 * Anything else is told. */
static csn_status report_refusal(struct csni_locate_query *query) {
    const struct csn_error *why = query->wrong_id.code != CSN_OK ? &query->wrong_id : &query->passed_over;
    if (why->code == CSN_OK) return CSN_NONE;
    if (query->err) *query->err = *why;
    if (why == &query->wrong_id) return why->code;
    if (query->err) query->err->code = CSN_NONE;
    return CSN_NONE;
}

csn_status csn_companion_search_resolve(void *search, const struct csn_companion_request *given, struct csn_companion *out,
                                        struct csn_error *err) {
    struct csn_companion_request request = { .struct_size = sizeof request };
    CSNI_TRY(csni_options_copy(&request, sizeof request, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_companion_request.reserved", request.reserved, err));
    struct csni_locate_query query = { .search = search, .request = &request, .out = out, .err = err, .skip = request.skip };
    query.has_image = request.image_path && stat(request.image_path, &query.image) == 0;
    csn_status status = locate_companion(&query);
    return status == CSN_NONE ? report_refusal(&query) : status;
}
