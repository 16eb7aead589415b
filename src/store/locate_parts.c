/* Where parts of debug information may be: dwz supplements, split DWARF, object files of a debug map. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "store/store_paths.h"

/* ---- supplements ---- */

/* The path as it stands, or from the folder of the file that names it: as written, then by that file's real path (entries
 * of build-id trees are links). */
static csn_status supplement_by_path(struct csni_locate_query *query, const char *name) {
    struct csni_folders folders;
    if (name[0] == '/') return csni_locate_try(query, name, CSNI_PROOF_NAME);
    if (!query->request->image_path) return CSN_NONE;
    csn_status status = CSN_NONE;
    csni_path_folders(query->request->image_path, &folders);
    for (size_t i = 0; status == CSN_NONE && i < folders.count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_NAME, "%s/%s", folders.text[i], name);
    return status;
}

/* Distributions keep them in DIR/.dwz/; the debug directory may be a copy that lies elsewhere. */
static csn_status supplement_in_dirs(struct csni_locate_query *query, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    const char *dwz = strstr(name, "/.dwz/");
    const char *tail = dwz ? dwz + strlen("/.dwz/") : csni_path_base(name);
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && *tail && i < options->debug_dir_count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_NAME, "%s/.dwz/%s", options->debug_dirs[i], tail);
    return status;
}

csn_status csni_locate_supplement(struct csni_locate_query *query) {
    const char *name = query->request->name;
    bool has_name = name && *name;
    csn_status status = has_name ? supplement_by_path(query, name) : CSN_NONE;
    if (status == CSN_NONE) status = csni_locate_by_id(query);
    if (status == CSN_NONE && has_name) status = supplement_in_dirs(query, name);
    if (status == CSN_NONE) status = csni_locate_on_servers(query);
    if (status == CSN_NONE && has_name && query->passed_over.code == CSN_OK)
        csni_fail(&query->passed_over, CSN_E_NOT_FOUND, NULL, 0, "%s not found", csni_path_show(name).text);
    return status;
}

/* ---- split DWARF ---- */

/* A package that the user named must be there. */
static csn_status chosen_packages(struct csni_locate_query *query) {
    const struct csn_companion_search_options *options = &query->search->options;
    for (size_t i = 0; i < options->dwp_file_count; i++) {
        const char *path = options->dwp_files[i];
        uint32_t skip = query->skip;
        csn_status status = csni_locate_try(query, path, CSNI_PROOF_NONE);
        if (status != CSN_NONE) return status;
        struct stat st;
        if (stat(path, &st) != 0) return csni_fail_os(query->err, errno, csni_path_show(path).text);
        if (query->skip == skip && query->passed_over.code != CSN_OK) {
            if (query->err) *query->err = query->passed_over;
            return query->passed_over.code;
        }
    }
    return CSN_NONE;
}

/* FILE.dwp; for FILE.debug also that of the program, whose package it is. */
static csn_status package_of(struct csni_locate_query *query, const char *file) {
    static const char suffix[] = ".debug";
    size_t len = strlen(file), suffix_len = sizeof suffix - 1;
    csn_status status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s.dwp", file);
    if (status == CSN_NONE && len > suffix_len && strcmp(file + len - suffix_len, suffix) == 0)
        status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%.*s.dwp", (int)(len - suffix_len), file);
    return status;
}

csn_status csni_locate_dwp(struct csni_locate_query *query) {
    const char *files[] = { query->request->image_path, query->request->name };
    char real[CSNI_PATH_SIZE];
    csn_status status = chosen_packages(query);
    for (size_t i = 0; status == CSN_NONE && i < sizeof files / sizeof *files; i++) {
        if (!files[i]) continue;
        status = package_of(query, files[i]);
        if (status == CSN_NONE && realpath(files[i], real)) status = package_of(query, real);
    }
    return status;
}

/* In each folder that the user named: the path in it, so that equal names of a build tree are told apart, then the name. */
static csn_status dwo_in_dirs(struct csni_locate_query *query, const char *name) {
    const struct csn_companion_search_options *options = &query->search->options;
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < options->dwo_dir_count; i++) {
        status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s", options->dwo_dirs[i], name);
        if (status == CSN_NONE && strchr(name, '/'))
            status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s", options->dwo_dirs[i], csni_path_base(name));
    }
    return status;
}

csn_status csni_locate_dwo(struct csni_locate_query *query) {
    const char *name = query->request->name, *directory = query->request->directory;
    if (!name || !*name) return CSN_NONE;
    bool is_absolute = name[0] == '/';
    struct csni_folders folders = { .count = 0 };
    csn_status status = dwo_in_dirs(query, name);
    if (status != CSN_NONE) return status;
    if (is_absolute) status = csni_locate_try(query, name, CSNI_PROOF_NONE);
    else if (directory && *directory) status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s", directory, name);
    if (status == CSN_NONE && query->request->image_path) csni_path_folders(query->request->image_path, &folders);
    for (size_t i = 0; status == CSN_NONE && i < folders.count; i++) {
        if (!is_absolute) status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s", folders.text[i], name);
        if (status == CSN_NONE)
            status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s/%s", folders.text[i], csni_path_base(name));
    }
    return status;
}

/* ---- debug maps ---- */

/* The file `name`, or of "libx.a(member.o)" the archive: members have times of their own. */
static csn_status object_at(struct csni_locate_query *query, enum csni_proof proof, const char *prefix, const char *name) {
    csn_status status = csni_locate_tryf(query, proof, "%s%s", prefix, name);
    const char *member = strrchr(name, '(');
    if (status == CSN_NONE && member && member > name && name[strlen(name) - 1] == ')')
        status = csni_locate_tryf(query, CSNI_PROOF_NONE, "%s%.*s", prefix, (int)(member - name), name);
    return status;
}

/* One that was modified at the right time comes first; any other is handed out all the same, and its time tells who asked. */
csn_status csni_locate_object(struct csni_locate_query *query) {
    static const enum csni_proof proofs[] = { CSNI_PROOF_TIME, CSNI_PROOF_NONE };
    const char *name = query->request->name, *prefix = query->search->options.object_prefix;
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && name && *name && i < sizeof proofs / sizeof *proofs; i++) {
        status = object_at(query, proofs[i], "", name);
        if (status == CSN_NONE && prefix) status = object_at(query, proofs[i], prefix, name);
    }
    return status;
}
