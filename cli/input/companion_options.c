/* Options for images and companions. */
#define _GNU_SOURCE
#include "input/companion_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/symbol_path.h"
#include "ui/cli_message.h"
#include "ui/output_path.h"
#include "ui/url_text.h"

const struct option_spec companion_options[COMPANION_OPTION_COUNT] = {
    { .name = "arch", .kind = OPTION_TEXT, .offset = offsetof(struct companion_values, arch), .value_name = "ARCH",
      .help = "image to use of a universal Mach-O file: x86_64, arm64 ..." },
    { .name = "debug-file", .kind = OPTION_TEXT, .offset = offsetof(struct companion_values, debug_file),
      .value_name = "FILE", .help = "use this debug file or dSYM bundle; search nowhere else",
      .excluded_by = "no-companions" },
    { .name = "debug-dir", .kind = OPTION_TEXTS, .offset = offsetof(struct companion_values, debug_dirs),
      .value_name = "DIR", .help = "search this folder for debug files instead of\n/usr/lib/debug; can be repeated",
      .excluded_by = "no-companions" },
    { .name = "dwp", .kind = OPTION_TEXTS, .offset = offsetof(struct companion_values, packages), .value_name = "FILE",
      .help = "split DWARF package; can be repeated",
      .excluded_by = "no-companions" },
    { .name = "dwo-dir", .kind = OPTION_TEXTS, .offset = offsetof(struct companion_values, dwo_dirs), .value_name = "DIR",
      .help = "folder of .dwo files, searched before the recorded paths;\ncan be repeated",
      .excluded_by = "no-companions" },
    { .name = "oso-prefix", .kind = OPTION_TEXT, .offset = offsetof(struct companion_values, object_prefix),
      .value_name = "DIR", .help = "also look for object files of a Mach-O debug map below DIR",
      .excluded_by = "no-companions" },
    { .name = "symbol-server", .kind = OPTION_TEXTS, .offset = offsetof(struct companion_values, symbol_servers),
      .value_name = "URL", .help = "symbol server to ask for PDBs, before those of\n_NT_SYMBOL_PATH; can be repeated",
      .excluded_by = "no-companions" },
    { .name = "fetch-timeout", .kind = OPTION_NUMBER, .offset = offsetof(struct companion_values, timeout_s),
      .min = 1, .max = 1000000, .value_name = "SEC",
      .help = "stop a download after this time\n(default: DEBUGINFOD_TIMEOUT)" },
    { .name = "fetch-limit", .kind = OPTION_SIZE, .offset = offsetof(struct companion_values, max_download),
      .min = 1, .value_name = "BYTES", .help = "do not download files larger than this" },
    { .name = "no-companions", .kind = OPTION_FLAG, .offset = offsetof(struct companion_values, none),
      .help = "read only the input; do not search for other files" },
};

static char *copy_of(const char *path) {
    size_t size = strlen(path) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, path, size) : NULL;
}

static void keep_missing(struct companion_search *search, const struct csn_companion_request *request) {
    search->is_missing = true;
    for (size_t i = 0; i < request->id_size && 2 * i + 2 < sizeof(search->build_id); i++)
        snprintf(search->build_id + 2 * i, 3, "%02x", request->id[i]);
    snprintf(search->link_name, sizeof(search->link_name), "%s", request->name ? request->name : "");
}

/* NULL: it is none. */
static const char *output_at(const struct companion_search *search, const char *path) {
    for (const char *const *out = search->outputs; out && *out; out++)
        if (is_same_file(path, *out)) return *out;
    return NULL;
}

static csn_status refuse_output(struct csn_companion *companion, struct csn_error *err) {
    *err = (struct csn_error)CSN_ERROR_INIT;
    err->code = CSN_E_ARGUMENT;
    snprintf(err->text, sizeof(err->text), "reads %.*s, which would be overwritten; choose another output",
             (int)sizeof(err->text) - 64, companion->path);
    if (companion->release) companion->release(companion);
    return CSN_E_ARGUMENT;
}

/* The stock resolver, whose debug file is remembered for the summary. */
static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *err) {
    struct companion_search *search = context;
    csn_status status = csn_companion_search_resolve(search->search, request, out, err);
    const char *const refused = status == CSN_OK && out->path ? output_at(search, out->path) : NULL;
    if (refused) {
        search->refused = refused;
        return refuse_output(out, err);
    }
    bool is_pdb = request->kind == CSN_COMPANION_PDB, is_debug_file = request->kind == CSN_COMPANION_DEBUG_FILE;
    if (status == CSN_NONE && is_pdb) search->lacks_pdb = true; /* the report names it */
    if (status == CSN_NONE && is_debug_file && !request->has_debug_info && !search->lacks_pdb) keep_missing(search, request);
    if (status == CSN_OK && (is_pdb || is_debug_file) && out->path && !search->debug_file)
        search->debug_file = copy_of(out->path);
    return status;
}

void companion_places(const struct companion_values *values, struct progress_bar *bar, struct csn_companion_search_options *out) {
    const char *urls = getenv("DEBUGINFOD_URLS");
    out->debug_dirs = values->debug_dirs.items;
    out->debug_dir_count = values->debug_dirs.count;
    out->flags = urls && *urls && !values->offline ? CSN_SEARCH_DEBUGINFOD : 0u;
    out->timeout_ms = (uint32_t)(values->timeout_s * 1000);
    out->max_download_bytes = values->max_download;
    out->progress = progress_step;
    out->progress_context = bar;
}

/* One is opened only if the input has split units; a name that was mistyped is told in any case. */
static bool packages_are_there(const struct companion_values *values, struct csn_error *err) {
    for (size_t i = 0; i < values->packages.count; i++) {
        if (access(values->packages.items[i], R_OK) == 0) continue;
        *err = (struct csn_error){ .code = CSN_E_IO, .os_error = errno };
        snprintf(err->text, sizeof(err->text), "%.*s: %s", (int)sizeof(err->text) - 64, values->packages.items[i], strerror(errno));
        return false;
    }
    return true;
}

bool companions_are_spared(const struct companion_values *values, const char *out, const char *option) {
    const char *named = values->debug_file && is_same_file(values->debug_file, out) ? "debug-file" : NULL;
    for (size_t i = 0; !named && i < values->packages.count; i++)
        if (is_same_file(values->packages.items[i], out)) named = "dwp";
    if (named) cli_error(out, "is the file of --%s; choose another file with %s", named, option);
    return !named;
}

csn_status companion_search_begin(struct companion_search *search, const struct companion_values *values, const char *const *outputs,
                                  struct progress_bar *bar, struct csn_convert_options *options, struct csn_error *err) {
    *search = (struct companion_search){ .outputs = outputs };
    options->arch = values->arch;
    if (values->none) return CSN_OK;
    if (!packages_are_there(values, err)) return CSN_E_IO;
    struct csn_companion_search_options given = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    companion_places(values, bar, &given);
    given.debug_file = values->debug_file;
    given.dwp_files = values->packages.items;
    given.dwp_file_count = values->packages.count;
    given.dwo_dirs = values->dwo_dirs.items;
    given.dwo_dir_count = values->dwo_dirs.count;
    given.object_prefix = values->object_prefix;
    options->resolver = resolve;
    options->resolver_context = search;
    struct symbol_path path;
    symbol_path_begin(&path, &values->symbol_servers);
    if (!values->offline) symbol_path_set(&path, &given);
    csn_status status = csn_companion_search_create(&given, &search->search, err);
    symbol_path_end(&path);
    return status;
}

const char *companion_search_missing(const struct companion_search *search, const struct companion_values *values,
                                     struct missing_text *out) {
    if (!search->is_missing || search->debug_file) return NULL;
    const char *urls = getenv("DEBUGINFOD_URLS"), *dir = values->debug_dirs.count ? values->debug_dirs.items[0] : "/usr/lib/debug";
    char others[32] = "", shown[sizeof(out->text) / 2];
    if (values->debug_dirs.count > 1) snprintf(others, sizeof(others), " and %zu more", values->debug_dirs.count - 1);
    urls_show(urls ? urls : "", shown, sizeof(shown));
    snprintf(out->text, sizeof(out->text), "build id %s; no debug file under %s%s%s%s; DEBUGINFOD_URLS is %s",
             search->build_id[0] ? search->build_id : "unknown", dir, others,
             search->link_name[0] ? " nor beside the image as " : "", search->link_name,
             values->offline ? "not used (--offline)" : *shown ? shown : "not set");
    return out->text;
}

void companion_search_end(struct companion_search *search) {
    csn_companion_search_destroy(search->search);
    free(search->debug_file);
    *search = (struct companion_search){ .search = NULL };
}
