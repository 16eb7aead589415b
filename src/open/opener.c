/* The handle that opens images: its options and its searches for companions. */
#include "open/opener.h"

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "base/hash.h"

void csn_opener_options_init(struct csn_opener_options *options) { *options = (struct csn_opener_options)CSN_OPENER_OPTIONS_INIT; }

void csn_opened_init(struct csn_opened *opened) { *opened = (struct csn_opened)CSN_OPENED_INIT; }

static uint64_t hash_texts(uint64_t hash, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++) hash = csni_hash_u64(hash ^ csni_hash_bytes(texts[i], strlen(texts[i])));
    return hash;
}

/* Of the places that decide whether debug information is found. */
static uint64_t hash_settings(const struct csn_companion_search_options *options) {
    uint64_t hash = csni_hash_u64(options->flags);
    hash = hash_texts(hash, options->debug_dirs, options->debug_dir_count);
    hash = hash_texts(hash, options->symbol_servers, options->symbol_server_count);
    hash = hash_texts(hash, &options->debug_file, options->debug_file != NULL);
    return csni_hash_u64(hash + 1);
}

static csn_status create_searches(struct csn_opener *opener, struct csn_error *err) {
    struct csn_companion_search_options options = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    const struct csn_companion_search_options *given = opener->options.companions;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    options.allocator = opener->alloc;
    opener->has_servers = options.flags & CSN_SEARCH_DEBUGINFOD;
    CSNI_TRY(csn_companion_search_create(&options, &opener->search, err));
    opener->settings = hash_settings(&options);
    options.flags &= ~(uint32_t)CSN_SEARCH_DEBUGINFOD;
    options.symbol_server_count = 0;
    return csn_companion_search_create(&options, &opener->local, err);
}

csn_status csn_opener_create(const struct csn_opener_options *given, struct csn_opener **out, struct csn_error *err) {
    struct csn_opener_options options = CSN_OPENER_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    uint32_t unknown = options.flags & ~(uint32_t)CSN_OPENER_SAME_FILE;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for an opener", unknown);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_opener *opener = csni_alloc_zeroed(alloc, 1, sizeof *opener);
    if (!opener) return csni_fail_memory(err, sizeof *opener);
    opener->alloc = alloc;
    opener->options = options;
    csn_status status = create_searches(opener, err);
    opener->options.companions = NULL;
    if (status < 0) csn_opener_destroy(opener);
    else *out = opener;
    return status;
}

void csn_opener_destroy(struct csn_opener *opener) {
    if (!opener) return;
    csn_companion_search_destroy(opener->search);
    csn_companion_search_destroy(opener->local);
    csni_free(opener->alloc, opener, sizeof *opener);
}
