/* Maps of binaries that a build log names: below the root of the build tree, which the log lies in, or which the user names. */
#define _GNU_SOURCE
#include <stdio.h>

#include "store/companion_search.h"
#include "store/store_paths.h"

enum { PARENTS_MAX = 16 };

/* ROOT/NAME.map, and ROOT/NAME with its ending replaced. Trees of the time are lower-case, logs are not always. */
static csn_status try_below(struct csni_locate_query *query, const char *root, const char *name) {
    const char *dot = strrchr(name, '.');
    csn_status status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s.map", root, name);
    if (status == CSN_NONE && dot && !strchr(dot, '/'))
        status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%.*s.map", root, (int)(dot - name), name);
    return status;
}

static csn_status try_root(struct csni_locate_query *query, const char *root) {
    const char *name = query->request->name;
    char lower[CSNI_PATH_SIZE];
    size_t len = strlen(name);
    csn_status status = try_below(query, root, name);
    if (status != CSN_NONE || len >= sizeof lower) return status;
    for (size_t i = 0; i <= len; i++) lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
    return strcmp(lower, name) == 0 ? CSN_NONE : try_below(query, root, lower);
}

csn_status csni_locate_map(struct csni_locate_query *query) {
    const struct csn_companion_search_options *options = &query->search->options;
    csn_status status = CSN_NONE;
    if (!query->request->name || !*query->request->name) return CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < options->debug_dir_count; i++) status = try_root(query, options->debug_dirs[i]);
    char folder[CSNI_PATH_SIZE];
    struct csni_folders folders = { .count = 0 };
    if (status == CSN_NONE && query->request->image_path) csni_path_folders(query->request->image_path, &folders);
    if (status != CSN_NONE || !folders.count) return status;
    /* The real path, for its parents. */
    memcpy(folder, folders.text[folders.count - 1], sizeof folder);
    for (int i = 0; status == CSN_NONE && i < PARENTS_MAX; i++) {
        status = try_root(query, folder);
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) break;
        *slash = 0;
    }
    return status;
}
