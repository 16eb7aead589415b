/* The cache and the opener of a command. */
#define _GNU_SOURCE
#include "input/symbol_search.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/cache_folder.h"
#include "input/symbol_path.h"
#include "ui/cli_message.h"

const struct option_spec search_options[SEARCH_OPTION_COUNT] = {
    { .name = "no-search", .kind = OPTION_FLAG, .offset = offsetof(struct search_values, none),
      .help = "use the given indexes only; search no cache, image, debug\nfile or server" },
    { .name = "debug-dir", .kind = OPTION_TEXTS, .offset = offsetof(struct search_values, debug_dirs), .value_name = "DIR",
      .help = "search this folder for debug files instead of\n/usr/lib/debug; can be repeated", .excluded_by = "no-search" },
    { .name = "offline", .kind = OPTION_FLAG, .offset = offsetof(struct search_values, offline),
      .help = "ask no server for debug files" },
    { .name = "cache-dir", .kind = OPTION_TEXT, .offset = offsetof(struct search_values, cache.dir), .value_name = "DIR",
      .help = "folder of converted indexes (default: $CALLSIGN_CACHE, else\n$XDG_CACHE_HOME/callsign, else ~/.cache/callsign)", .excluded_by = "no-cache" },
    { .name = "no-cache", .kind = OPTION_FLAG, .offset = offsetof(struct search_values, cache.none),
      .help = "convert in memory; neither read nor fill the cache" },
};

static bool open_cache(struct symbol_search *search, const struct cache_values *values) {
    struct csn_error err = CSN_ERROR_INIT;
    if (!cache_folder_fits(values->dir)) return false;
    char *folder = values->none ? NULL : cache_folder(values->dir);
    if (!folder) return true;
    csn_status status = csn_cache_open(folder, NULL, &search->cache, &err);
    if (status < 0) cli_error_status(folder, status, &err);
    free(folder);
    return status == CSN_OK;
}

static void report_refused(void *context, const char *path, const char *text) {
    (void)context;
    cli_error(path, "%s", text);
}

static bool create_opener(struct symbol_search *search, const struct csn_companion_search_options *companions, uint32_t flags,
                          uint64_t max_memory) {
    struct csn_opener_options options = CSN_OPENER_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    options.cache = search->cache;
    options.companions = companions;
    options.progress = progress_step;
    options.progress_context = &search->bar;
    options.report = report_refused;
    options.flags = flags;
    options.max_memory = max_memory;
    csn_status status = csn_opener_create(&options, &search->opener, &err);
    if (status == CSN_OK) return true;
    cli_error_status(NULL, status, &err);
    return false;
}

void symbol_search_plan(struct symbol_search *search, const struct companion_values *companions, const struct cache_values *cache,
                        bool offline) {
    *search = (struct symbol_search){ .companions = companions, .cache_values = cache, .offline = offline };
}

bool symbol_search_start(struct symbol_search *search) {
    struct csn_companion_search_options companions = CSN_COMPANION_SEARCH_OPTIONS_INIT;
    const struct companion_values *values = search->companions;
    struct symbol_path path;
    if (!values) return true;
    search->companions = NULL;
    companion_places(values, &search->bar, &companions);
    symbol_path_begin(&path, &values->symbol_servers);
    if (search->offline) companions.flags = 0;
    else symbol_path_set(&path, &companions);
    /* Whoever says where debug files are wants those. */
    uint32_t flags = values->debug_dirs.count ? CSN_OPENER_SAME_FILE : 0;
    bool good = open_cache(search, search->cache_values)
                && create_opener(search, &companions, flags, search->cache_values->max_memory);
    symbol_path_end(&path);
    if (!good) symbol_search_end(search);
    return good;
}

bool symbol_search_begin_with(struct symbol_search *search, const struct companion_values *values,
                              const struct cache_values *cache, bool offline) {
    symbol_search_plan(search, values, cache, offline);
    return symbol_search_start(search);
}

bool symbol_search_begin(struct symbol_search *search, const struct search_values *values) {
    *search = (struct symbol_search){ .cache = NULL };
    if (!values || values->none) return true;
    const struct companion_values companions = { .debug_dirs = values->debug_dirs };
    return symbol_search_begin_with(search, &companions, &values->cache, values->offline);
}

void symbol_search_end(struct symbol_search *search) {
    csn_opener_destroy(search->opener);
    csn_cache_close(search->cache);
    *search = (struct symbol_search){ .cache = NULL };
}

csn_status symbol_search_find(void *context, const struct csn_store_module *module, struct csn_index **out,
                              struct csn_store_explanation *explanation, struct csn_error *err) {
    struct symbol_search *search = context;
    progress_begin(&search->bar, false);
    csn_status status = csn_opener_find(search->opener, module, out, explanation, err);
    progress_end(&search->bar);
    progress_pass_on_signal();
    return status;
}
