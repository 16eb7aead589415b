/* The folder of the cache of converted indexes. */
#ifndef CALLSIGN_CLI_CACHE_FOLDER_H
#define CALLSIGN_CLI_CACHE_FOLDER_H

/* --cache-dir, else $CALLSIGN_CACHE, else $XDG_CACHE_HOME/callsign, else ~/.cache/callsign. NULL: there is none, as where
 * $CALLSIGN_CACHE is empty. Freed by the caller. */
char *cache_folder(const char *given);

#endif
