/* What the files of the store share. */
#ifndef CALLSIGN_SERVER_STORE_PRIVATE_H
#define CALLSIGN_SERVER_STORE_PRIVATE_H

#include <pthread.h>

#include "store/symbol_store.h"

struct symbol_store {
    char dir[STORE_PATH_SIZE];
    struct store_options options;
    struct catalogue *catalogue;
    bool is_new;
    pthread_mutex_t fetching; /* one thread asks remotes at a time: what it fetches answers the others, too */
    struct misses *misses;
};

/* What remotes did not have, for a while. */
bool store_miss_is_known(struct symbol_store *store, const char *key);
void store_miss_remember(struct symbol_store *store, const char *key);
void store_misses_forget(struct symbol_store *store);
void store_misses_free(struct symbol_store *store);

#endif
