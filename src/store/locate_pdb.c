/* Where the program database of a PE image may be: docs/companions.md has the order. */
#define _GNU_SOURCE
#include <stdio.h>

#include "base/core/fail.h"
#include "pdb/pdb.h"
#include "store/store_paths.h"
#include "store/symbol_server.h"

/* What a request is about. */
struct pdb_wanted {
    const char *path, *name;   /* as the image has it, and its last part */
    char id[CSNI_PDB_ID_SIZE];
};

/* Paths in images are those of Windows, or of a cross-compiler's machine. */
static const char *last_part(const char *path) {
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\') name = p + 1;
    return name;
}

static bool wanted_by(const struct csn_companion_request *request, struct pdb_wanted *out) {
    if (!request->name || request->id_size != CSNI_PDB_GUID_SIZE) return false;
    out->path = request->name;
    out->name = last_part(request->name);
    csni_pdb_id_text(request->id, request->id_age, out->id);
    return *out->name && strcmp(out->name, ".") != 0 && strcmp(out->name, "..") != 0;
}

static csn_status pdb_beside_image(struct csni_locate_query *query, const struct pdb_wanted *wanted) {
    csn_status status = CSN_NONE;
    struct csni_folders folders = { .count = 0 };
    if (query->request->image_path) csni_path_folders(query->request->image_path, &folders);
    for (size_t i = 0; status == CSN_NONE && i < folders.count; i++)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s", folders.text[i], wanted->name);
    return status;
}

/* DIR/NAME/ID/NAME, as symbol servers keep them; some write the id in small letters, some the name, too. */
static csn_status pdb_in_tree(struct csni_locate_query *query, const char *dir, const struct pdb_wanted *wanted) {
    char small_id[CSNI_PDB_ID_SIZE], small_name[CSNI_PATH_SIZE];
    bool differs = csni_small_letters(wanted->name, small_name, sizeof small_name);
    csni_small_letters(wanted->id, small_id, sizeof small_id);
    csn_status status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s/%s/%s", dir, wanted->name, wanted->id, wanted->name);
    if (status == CSN_NONE)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s/%s/%s", dir, wanted->name, small_id, wanted->name);
    if (status == CSN_NONE && differs)
        status = csni_locate_tryf(query, CSNI_PROOF_ID, "%s/%s/%s/%s", dir, small_name, small_id, small_name);
    return status;
}

static csn_status pdb_in_debug_dirs(struct csni_locate_query *query, const struct pdb_wanted *wanted) {
    const struct csn_companion_search_options *options = &query->search->options;
    csn_status status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < options->debug_dir_count; i++)
        status = pdb_in_tree(query, options->debug_dirs[i], wanted);
    return status;
}

static csn_status pdb_on_symbol_servers(struct csni_locate_query *query, const struct pdb_wanted *wanted) {
    const struct csn_companion_search_options *options = &query->search->options;
    char path[CSNI_PATH_SIZE];
    struct csn_error why = CSN_ERROR_INIT;
    if (!options->symbol_server_count || !options->download_dir) return CSN_NONE;
    csn_status status = pdb_in_tree(query, options->download_dir, wanted);
    if (status != CSN_NONE) return status;
    status = csni_symbol_server_fetch(options, wanted->name, wanted->id, path, &why);
    if (status == CSN_OK) return csni_locate_try(query, path, CSNI_PROOF_ID);
    if (status < 0 && query->err) *query->err = why;
    if (status == CSN_NONE && why.text[0] && query->passed_over.code == CSN_OK)
        csni_fail(&query->passed_over, CSN_E_NOT_FOUND, NULL, 0, "PDB %s, id %s: %s", wanted->name, wanted->id,
                  csn_error_text(&why));
    return status;
}

static void report_missing_pdb(struct csni_locate_query *query, const struct pdb_wanted *wanted) {
    const struct csn_companion_search_options *options = &query->search->options;
    char others[32] = "", servers[48] = "";
    if (query->passed_over.code != CSN_OK) return;
    if (options->debug_dir_count > 1) snprintf(others, sizeof others, " and %zu more", options->debug_dir_count - 1);
    if (options->symbol_server_count)
        snprintf(servers, sizeof servers, " nor on %zu symbol server%s", options->symbol_server_count,
                 options->symbol_server_count > 1 ? "s" : "");
    csni_fail(&query->passed_over, CSN_E_NOT_FOUND, NULL, 0, "PDB %s, id %s, is neither beside the image nor under %s%s%s",
              csni_path_show(wanted->path).text, wanted->id, csni_path_show(options->debug_dirs[0]).text, others, servers);
}

csn_status csni_locate_pdb(struct csni_locate_query *query) {
    const char *chosen = query->search->options.debug_file;
    struct pdb_wanted wanted;
    if (chosen) return csni_locate_chosen(query, chosen);
    if (!wanted_by(query->request, &wanted)) return CSN_NONE;
    csn_status status = pdb_beside_image(query, &wanted);
    if (status == CSN_NONE && wanted.path[0] == '/') status = csni_locate_try(query, wanted.path, CSNI_PROOF_ID);
    if (status == CSN_NONE) status = pdb_in_debug_dirs(query, &wanted);
    if (status == CSN_NONE) status = pdb_on_symbol_servers(query, &wanted);
    if (status == CSN_NONE) report_missing_pdb(query, &wanted);
    return status;
}
