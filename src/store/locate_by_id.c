/* What is found by its build id, whatever kind it is of: in the trees of the debug directories, and on servers. */
#define _GNU_SOURCE
#include "store/debuginfod.h"
#include "store/store_paths.h"

csn_status csni_locate_by_id(struct csni_locate_query *query) {
    const struct csn_companion_search_options *options = &query->search->options;
    char id[CSNI_ID_TEXT_SIZE];
    if (query->request->id_size < 2 || !csni_id_text(query->request->id, query->request->id_size, id)) return CSN_NONE;
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < options->debug_dir_count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/.build-id/%.2s/%s.debug", options->debug_dirs[i], id, id + 2);
    const char *image = query->request->image_path;
    const size_t root = image ? csni_path_root(image) : 0;
    for (size_t i = 0; status == CSN_NONE && root && i < options->debug_dir_count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%.*s%s/.build-id/%.2s/%s.debug", (int)root, image,
                                  options->debug_dirs[i], id, id + 2);
    return status;
}

csn_status csni_locate_on_servers(struct csni_locate_query *query) {
    char path[CSNI_PATH_SIZE];
    struct csn_error why = CSN_ERROR_INIT;
    if (!(query->search->options.flags & CSN_SEARCH_DEBUGINFOD) || !query->request->id_size) return CSN_NONE;
    csn_status status = csni_debuginfod_find(&query->search->options, query->request->id, query->request->id_size, path, &why);
    if (status == CSN_OK) return csni_locate_try(query, path, CSNI_PROOF_ID);
    if (status < 0) {
        if (query->err) *query->err = why;
    } else if (why.text[0] && query->passed_over.code == CSN_OK) {
        query->passed_over = why;
    }
    return status;
}
