/* Where an image's own debug information may be. The order: docs/companions.md. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "store/store_paths.h"

enum { BUNDLE_DEPTH_MAX = 16, BUNDLE_FILES_MAX = 256 };

static const char IN_BUNDLE[] = "Contents/Resources/DWARF";

/* ---- dSYM bundles ---- */

/* Files of the bundle under other names, as when the image was renamed: their id tells. */
static csn_status by_id_in_dsym(struct csni_locate_query *query, const char *bundle) {
    char folder[CSNI_PATH_SIZE];
    int len = snprintf(folder, sizeof folder, "%s/%s", bundle, IN_BUNDLE);
    DIR *list = len > 0 && (size_t)len < sizeof folder && query->request->id_size ? opendir(folder) : NULL;
    if (!list) return CSN_NONE;
    csn_status status = CSN_NONE;
    const struct dirent *entry;
    for (int i = 0; status == CSN_NONE && i < BUNDLE_FILES_MAX && (entry = readdir(list)); i++)
        if (entry->d_name[0] != '.') status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s", folder, entry->d_name);
    closedir(list);
    return status;
}

/* The file in the dSYM bundle `bundle` for the image of the request. */
static csn_status in_dsym(struct csni_locate_query *query, const char *bundle) {
    const char *image = query->request->image_path;
    csn_status status = CSN_NONE;
    if (image) status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s/%s", bundle, IN_BUNDLE, csni_path_base(image));
    return status == CSN_NONE ? by_id_in_dsym(query, bundle) : status;
}

/* IMAGE.dSYM, then FOLDER.dSYM for each folder that the image is in and that is a bundle, as Foo.app is. */
static csn_status in_dsyms_beside(struct csni_locate_query *query, const char *image) {
    char path[CSNI_PATH_SIZE];
    size_t len = strlen(image);
    if (len + sizeof ".dSYM" > sizeof path) return CSN_NONE;
    memcpy(path, image, len);
    csn_status status = CSN_NONE;
    for (int depth = 0; status == CSN_NONE && len && depth < BUNDLE_DEPTH_MAX; depth++) {
        memcpy(path + len, ".dSYM", sizeof ".dSYM");
        if (depth == 0 || memchr(csni_path_base(path), '.', len - (size_t)(csni_path_base(path) - path)))
            status = in_dsym(query, path);
        while (len && path[len - 1] != '/') len--;
        while (len && path[len - 1] == '/') len--;
    }
    return status;
}

/* ---- what the user chose ---- */

static csn_status fail_chosen(struct csni_locate_query *query, const char *path) {
    const struct csn_error *why = query->wrong_id.code != CSN_OK ? &query->wrong_id : &query->passed_over;
    if (why->code == CSN_OK) {
        struct stat st;
        struct csni_path_shown shown = csni_path_show(path);
        if (stat(path, &st) != 0) return csni_fail_os(query->err, errno, shown.text);
        if (S_ISDIR(st.st_mode))
            return csni_fail(query->err, CSN_E_NOT_FOUND, NULL, 0, "%s has no file for the image in %s", shown.text, IN_BUNDLE);
        return csni_fail(query->err, CSN_E_ARGUMENT, NULL, 0, "%s is the image itself", shown.text);
    }
    if (query->err) *query->err = *why;
    return why->code;
}

/* Nothing else is looked for when it does not fit: whoever names a file wants to know. */
csn_status csni_locate_chosen(struct csni_locate_query *query, const char *path) {
    struct stat st;
    uint32_t skip = query->skip;
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    csn_status status = is_folder ? in_dsym(query, path) : csni_locate_try(query, path, CSNI_PROOF_NAME);
    return status == CSN_NONE && query->skip == skip ? fail_chosen(query, path) : status;
}

/* ---- .gnu_debuglink ---- */

/* A name that says where to look would be the image's way to any file: only its last part counts. NULL: no name. */
static const char *link_name(const struct csni_locate_query *query) {
    const char *name = query->request->name ? csni_path_base(query->request->name) : "";
    return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? name : NULL;
}

/* Beside the image in `folder`, below it, and in the same folder under each debug directory. */
static csn_status by_link_in(struct csni_locate_query *query, const char *folder, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    csn_status status = csni_locate_tryf(query, CSNI_PROOF_CRC, "%s/%s", folder, name);
    if (status == CSN_NONE) status = csni_locate_tryf(query, CSNI_PROOF_CRC, "%s/.debug/%s", folder, name);
    bool is_absolute = folder[0] == '/' || !folder[0];
    for (size_t i = 0; status == CSN_NONE && is_absolute && i < options->debug_dir_count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_CRC, "%s%s/%s", options->debug_dirs[i], folder, name);
    return status;
}

/* Of an image below /proc/PID/root: the debug directories of that root. */
static csn_status by_link_in_root(struct csni_locate_query *query, const char *folder, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    const size_t root = csni_path_root(query->request->image_path);
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && root && i < options->debug_dir_count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_CRC, "%.*s%s%s/%s", (int)root, folder, options->debug_dirs[i],
                                  folder + root, name);
    return status;
}

static void report_missing_link(struct csni_locate_query *query, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    if (query->passed_over.code != CSN_OK) return;
    char others[32] = "";
    if (options->debug_dir_count > 1) snprintf(others, sizeof others, " and %zu more", options->debug_dir_count - 1);
    csni_fail(&query->passed_over, CSN_E_NOT_FOUND, NULL, 0,
              "%s is neither beside the image nor in its .debug folder nor under %s%s", csni_path_show(name).text,
              csni_path_show(options->debug_dirs[0]).text, others);
}

static csn_status by_link(struct csni_locate_query *query) {
    const char *name = link_name(query);
    if (!name) return CSN_NONE;
    csn_status status = CSN_NONE;
    struct csni_folders folders = { .count = 0 };
    if (query->request->image_path) csni_path_folders(query->request->image_path, &folders);
    for (size_t i = 0; status == CSN_NONE && i < folders.count; i++) status = by_link_in(query, folders.text[i], name);
    return status == CSN_NONE && folders.count ? by_link_in_root(query, folders.text[0], name) : status;
}

/* ---- all of it ---- */

/* Nothing but its name says that a bundle belongs to the image, and the next build leaves that of the last one lying there:
 * one with another UUID is told, and no more. */
static csn_status by_dsym(struct csni_locate_query *query) {
    const char *image = query->request->image_path;
    char real[CSNI_PATH_SIZE];
    if (!image) return CSN_NONE;
    bool was_wrong = query->wrong_id.code != CSN_OK;
    csn_status status = in_dsyms_beside(query, image);
    if (status == CSN_NONE && realpath(image, real) && strcmp(real, image) != 0) status = in_dsyms_beside(query, real);
    if (status == CSN_NONE && !was_wrong && query->wrong_id.code != CSN_OK) {
        query->passed_over = query->wrong_id;
        query->wrong_id = (struct csn_error)CSN_ERROR_INIT;
    }
    return status;
}

csn_status csni_locate_debug_file(struct csni_locate_query *query) {
    const char *chosen = query->search->options.debug_file;
    if (chosen) return csni_locate_chosen(query, chosen);
    if (query->request->has_debug_info) return CSN_NONE;
    csn_status status = csni_locate_by_id(query);
    if (status == CSN_NONE) status = by_link(query);
    if (status == CSN_NONE) status = by_dsym(query);
    if (status == CSN_NONE) status = csni_locate_on_servers(query);
    if (status == CSN_NONE && link_name(query)) report_missing_link(query, link_name(query));
    return status;
}
