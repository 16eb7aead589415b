/* callsign store add: files and folders into the store, several files at the same time. */
#ifndef CALLSIGN_SERVER_STORE_ADD_H
#define CALLSIGN_SERVER_STORE_ADD_H

#include "store/open_store.h"

struct store_add {
    struct opened_store *opened;
    bool is_json, is_quiet;
    uint64_t stored, rejected;
    bool failed;             /* of at least one file */
    bool is_explained;       /* why a file was not stored was told */
};

/* Prints what was stored and what failed, in the order of the files. */
void store_add_paths(struct store_add *add, char **paths, int count);

#endif
