/* What the files of the store share. */
#ifndef CALLSIGN_SERVER_STORE_PRIVATE_H
#define CALLSIGN_SERVER_STORE_PRIVATE_H

#include "store/fetches.h"
#include "store/symbol_store.h"

struct symbol_store {
    char dir[STORE_PATH_SIZE];
    struct store_options options;
    struct catalogue *catalogue;
    bool is_new;
    struct fetches *fetches;  /* NULL: there are no remotes */
};

#endif
