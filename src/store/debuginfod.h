/* debuginfod servers, by way of libdebuginfod. debuginfod.c is the only file that knows it. */
#ifndef CSNI_DEBUGINFOD_H
#define CSNI_DEBUGINFOD_H

#include "store/companion_search.h"

/* The debug information with that build id, from the cache or a server. CSN_OK: `path` is a file in the cache. CSN_NONE: no
 * server has it, or there is no server; a text in `err` says what went wrong. CSN_E_CANCELLED: the progress callback asked to
 * stop. Any thread. */
csn_status csni_debuginfod_find(const struct csn_companion_search_options *options, const uint8_t *id, size_t id_size,
                                char path[CSNI_PATH_SIZE], struct csn_error *err);

#endif
