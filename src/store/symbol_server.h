/* Files of symbol servers, fetched through libcurl. */
#ifndef CSNI_SYMBOL_SERVER_H
#define CSNI_SYMBOL_SERVER_H

#include "store/companion_search.h"

/* Fetches URL/NAME/ID/NAME from the first of options->symbol_servers that has it, to options->download_dir/NAME/ID/NAME: `path`.
 * CSN_NONE: no server has it, or it cannot be asked; a text in `err` says why. CSN_E_CANCELLED: the caller stopped it. */
csn_status csni_symbol_server_fetch(const struct csn_companion_search_options *options, const char *name, const char *id,
                                    char path[CSNI_PATH_SIZE], struct csn_error *err);

#endif
