/* Symbol servers of Windows programs: those of --symbol-server, then those that _NT_SYMBOL_PATH names. */
#ifndef CALLSIGN_CLI_SYMBOL_PATH_H
#define CALLSIGN_CLI_SYMBOL_PATH_H

#include <callsign/companion.h>

#include "ui/option_table.h"

enum { SYMBOL_SERVERS_MAX = 32 };

struct symbol_path {
    char *text;                              /* a copy of the variable, which `servers` and `folder` point into */
    const char *servers[SYMBOL_SERVERS_MAX];
    size_t count;
    const char *folder;                      /* where downloads are kept; NULL: nowhere */
    char *default_folder;
};

/* Of _NT_SYMBOL_PATH, elements `srv*FOLDER*URL`, `srv*URL`, `symsrv*DLL*FOLDER*URL`, `cache*FOLDER` and `URL` count;
 * the first FOLDER is where downloads are kept, else `symbols` in the cache's folder is. */
void symbol_path_begin(struct symbol_path *path, const struct text_list *given);
void symbol_path_set(const struct symbol_path *path, struct csn_companion_search_options *options);
void symbol_path_end(struct symbol_path *path);

#endif
