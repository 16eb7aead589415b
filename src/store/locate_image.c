/* Images that debug-only files were split off from: where the debug file would be found from them, the other way round. */
#define _GNU_SOURCE
#include "store/companion_search.h"
#include "store/store_paths.h"

/* The length of a name without the ending that debug files have; 0: it has none. */
static size_t stem_length(const char *name) {
    static const char *const endings[] = { ".debug", ".dbg" };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(name + len - ending, endings[i]) == 0) return len - ending;
    }
    return 0;
}

/* FOLDER/NAME without its ending, and of one in a folder of its own, as .debug is, with it, too. */
static csn_status try_names(struct csni_locate_query *query, const char *folder, size_t folder_len, const char *name,
                            bool is_elsewhere) {
    size_t stem = stem_length(name);
    csn_status status = CSN_NONE;
    if (stem) status = csni_locate_tryf(query, CSNI_PROOF_ID, "%.*s/%.*s", (int)folder_len, folder, (int)stem, name);
    if (status == CSN_NONE && is_elsewhere)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%.*s/%s", (int)folder_len, folder, name);
    return status;
}

static csn_status from_folder(struct csni_locate_query *query, const char *folder, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    size_t len = strlen(folder), own = strlen("/.debug");
    csn_status status = try_names(query, folder, len, name, false);
    if (status == CSN_NONE && len > own && strcmp(folder + len - own, "/.debug") == 0)
        status = try_names(query, folder, len - own, name, true);
    for (size_t i = 0; status == CSN_NONE && i < options->debug_dir_count; i++) {
        size_t root = strlen(options->debug_dirs[i]);
        if (root && len > root && memcmp(folder, options->debug_dirs[i], root) == 0 && folder[root] == '/')
            status = try_names(query, folder + root, len - root, name, true);
    }
    return status;
}

/* Without a build id nothing tells which image it is. That one of another build is there is no mistake: debug files
 * outlive images. */
csn_status csni_locate_image(struct csni_locate_query *query) {
    struct csni_folders folders = { .count = 0 };
    csn_status status = CSN_NONE;
    if (!query->request->image_path || !query->request->id_size) return CSN_NONE;
    csni_path_folders(query->request->image_path, &folders);
    for (size_t i = 0; status == CSN_NONE && i < folders.count; i++)
        status = from_folder(query, folders.text[i], csni_path_base(query->request->image_path));
    query->wrong_id.code = query->passed_over.code = CSN_OK;
    return status;
}
