/* Opening what is an index, carries one, or has to be converted. Above index, convert and store, which know nothing of one another. */
#include <callsign/companion.h>
#include <callsign/convert.h>
#include <callsign/open.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "base/core/sized.h"
#include "index/index_owner.h"

static csn_status convert_with_companions(const char *path, const struct csn_index_options *options, struct csn_bytes *out,
                                          struct csn_error *err) {
    struct csn_companion_search_options search_options = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    struct csn_convert_options convert_options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_companion_search *search;
    search_options.allocator = options->allocator;
    CSNI_TRY(csn_companion_search_create(&search_options, &search, err));
    convert_options.allocator = options->allocator;
    convert_options.arch = options->arch;
    convert_options.format = CSN_FORMAT_GSYM_AUTO;
    convert_options.resolver = csn_companion_search_resolve;
    convert_options.resolver_context = search;
    csn_status status = csn_convert_file_to_memory(path, &convert_options, out, NULL, err);
    csn_companion_search_destroy(search);
    return status;
}

static csn_status open_converted(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                 struct csn_error *err) {
    struct csn_bytes bytes;
    CSNI_TRY(convert_with_companions(path, options, &bytes, err));
    struct csn_index_options of_result = *options;
    of_result.arch = NULL;
    struct csn_index *index;
    csn_status status = csn_index_open_memory(bytes.ptr, bytes.size, &of_result, &index, err);
    if (status != CSN_OK) {
        csn_bytes_free(&bytes);
        return status;
    }
    csni_index_own_bytes(index, &bytes);
    *out = index;
    return CSN_OK;
}

/* CSN_NONE: it has to be converted. */
static csn_status open_mapped(struct csni_file_map *map, const struct csn_index_options *options, struct csn_index **out,
                              struct csn_error *err) {
    const struct csni_span bytes = map->bytes;
    bool has_index = csn_is_index(bytes.ptr, bytes.size) || csni_index_is_embedded(bytes, options->arch);
    if (!has_index && csn_is_input(bytes.ptr, bytes.size)) return CSN_NONE;
    struct csn_index *index;
    CSNI_TRY(csn_index_open_memory(bytes.ptr, bytes.size, options, &index, err));
    csni_index_own_map(index, map);
    *out = index;
    return CSN_OK;
}

csn_status csn_index_open_any(const char *path, const struct csn_index_options *options, struct csn_index **out,
                              struct csn_error *err) {
    struct csn_index_options known = CSN_INDEX_OPTIONS_INIT;
    struct csni_file_map map;
    if (options) CSNI_TRY(csni_options_copy(&known, sizeof known, options, options->struct_size, err));
    /* What cannot be mapped is missing, or a bundle: the conversion finds out which. */
    if (csni_file_map_open(&map, path, NULL) != CSN_OK) return open_converted(path, &known, out, err);
    csn_status status = open_mapped(&map, &known, out, err);
    if (status == CSN_OK) return CSN_OK;
    csni_file_map_close(&map);
    return status == CSN_NONE ? open_converted(path, &known, out, err) : status;
}
