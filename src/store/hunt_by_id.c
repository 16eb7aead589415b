/* What is found by its build id, whatever kind it is of: in the trees of the debug directories, and on servers. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "store/debuginfod.h"
#include "store/paths.h"

csn_status csni_hunt_by_id(struct csni_hunt *hunt) {
    const struct csn_companion_search_options *options = &hunt->search->options;
    char id[CSNI_ID_TEXT_SIZE];
    if (hunt->request->id_size < 2 || !csni_id_text(hunt->request->id, hunt->request->id_size, id)) return CSN_NONE;
    for (size_t i = 0; i < options->debug_dir_count; i++) {
        csn_status status = csni_hunt_tryf(hunt, CSNI_PROOF_ID, "%s/.build-id/%.2s/%s.debug", options->debug_dirs[i], id, id + 2);
        if (status != CSN_NONE) return status;
    }
    return CSN_NONE;
}

csn_status csni_hunt_on_servers(struct csni_hunt *hunt) {
    char path[CSNI_PATH_SIZE];
    struct csn_error why = CSN_ERROR_INIT;
    if (!(hunt->search->options.flags & CSN_SEARCH_DEBUGINFOD) || !hunt->request->id_size) return CSN_NONE;
    csn_status status = csni_debuginfod_find(&hunt->search->options, hunt->request->id, hunt->request->id_size, path, &why);
    if (status == CSN_OK) return csni_hunt_try(hunt, path, CSNI_PROOF_ID);
    if (status < 0) {
        if (hunt->err) *hunt->err = why;
    } else if (why.text[0] && hunt->passed_over.code == CSN_OK) {
        hunt->passed_over = why;
    }
    return status;
}
