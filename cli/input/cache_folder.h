/* The folder of the cache of converted indexes. */
#ifndef CALLSIGN_CLI_CACHE_FOLDER_H
#define CALLSIGN_CLI_CACHE_FOLDER_H

#include <stdbool.h>

/* --cache-dir, else $CALLSIGN_CACHE, else $XDG_CACHE_HOME/callsign, else ~/.cache/callsign. NULL: there is none, as where
 * $CALLSIGN_CACHE is empty. Freed by the caller. */
char *cache_folder(const char *given);

/* False, with a message: the folder that was named is something else. One that is not there yet is made. */
bool cache_folder_fits(const char *given);

#endif
