/* The store that the settings name, with its remotes. */
#ifndef CALLSIGN_SERVER_OPEN_STORE_H
#define CALLSIGN_SERVER_OPEN_STORE_H

#include "base/settings.h"
#include "store/remote.h"

struct opened_store {
    struct symbol_store *store;
    struct remote *remotes[MOST_REMOTES + 1]; /* the bucket of an s3:// store first */
    size_t remote_count;
    struct bucket *bucket;                    /* NULL: the store is a folder */
};
int open_store_of_settings(const struct settings *settings, struct opened_store *out, char *why, size_t why_size);
void close_store(struct opened_store *opened);

#endif
