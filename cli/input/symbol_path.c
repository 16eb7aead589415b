/* Symbol servers of Windows programs. */
#define _GNU_SOURCE
#include "input/symbol_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/cache_folder.h"
#include "input/symbol_search.h"

static bool is_url(const char *text) {
    return strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0;
}

static void add_server(struct symbol_path *path, const char *url) {
    if (path->count < SYMBOL_SERVERS_MAX) path->servers[path->count++] = url;
}

/* What stands between asterisks: stores nearest first, the last of them mostly a server. */
static void read_stores(struct symbol_path *path, char *stores) {
    char *next;
    for (char *store = strtok_r(stores, "*", &next); store; store = strtok_r(NULL, "*", &next)) {
        if (is_url(store)) add_server(path, store);
        else if (!path->folder) path->folder = store;
    }
}

/* "symsrv*symsrv.dll*FOLDER*URL" is what "srv*FOLDER*URL" was before; "cache*FOLDER" keeps what comes from all that follow. */
static void read_element(struct symbol_path *path, char *element) {
    char *stores = strncasecmp(element, "symsrv*", 7) == 0 ? strchr(element + 7, '*') : NULL;
    if (stores) read_stores(path, stores + 1);
    else if (strncasecmp(element, "srv*", 4) == 0) read_stores(path, element + 4);
    else if (strncasecmp(element, "cache*", 6) == 0 && element[6] && !path->folder) path->folder = element + 6;
    else if (is_url(element)) add_server(path, element);
}

void symbol_path_begin(struct symbol_path *path, const struct text_list *given) {
    const char *variable = getenv("_NT_SYMBOL_PATH");
    *path = (struct symbol_path){ .text = variable ? strdup(variable) : NULL };
    for (size_t i = 0; i < given->count; i++) add_server(path, given->items[i]);
    char *next;
    for (char *element = path->text ? strtok_r(path->text, ";", &next) : NULL; element; element = strtok_r(NULL, ";", &next))
        read_element(path, element);
    if (path->folder || !path->count) return;
    char *cache = cache_folder(NULL);
    if (cache && asprintf(&path->default_folder, "%s/symbols", cache) < 0) path->default_folder = NULL;
    path->folder = path->default_folder;
    free(cache);
}

void symbol_path_set(const struct symbol_path *path, struct csn_companion_search_options *options) {
    options->symbol_servers = path->servers;
    options->symbol_server_count = path->count;
    options->download_dir = path->folder;
}

void symbol_path_end(struct symbol_path *path) {
    free(path->text);
    free(path->default_folder);
    *path = (struct symbol_path){ .text = NULL };
}
