/* Any bytes as an uploaded file: archives are unpacked, what is in them identified and stored. Invariants: what was
 * stored is where the answer says it is, below the store's folder and nowhere hidden; nothing is left among the
 * files that arrive. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/scratch_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUNS_OF_ONE_STORE = 200 };

static void require(bool condition) {
    if (!condition) abort();
}

static void check_stored(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                         const char *why) {
    char path[2 * STORE_PATH_SIZE];
    struct stat st;
    size_t *stored = context;
    require(name && (status == STORE_OK || *why));
    if (status != STORE_OK) return;
    ++*stored;
    snprintf(path, sizeof(path), "%s/%s", scratch_store_dir(), artifact->path);
    require(*artifact->path && !strstr(path, "/../") && !strstr(path, "//") && strncmp(artifact->path, ".callsign/", 10) != 0);
    require(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
    require((uint64_t)st.st_size == artifact->bytes);
}

static void check_no_leftovers(void) {
    char path[256];
    snprintf(path, sizeof(path), "%s/.callsign/incoming", scratch_store_dir());
    DIR *folder = opendir(path);
    require(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder));) require(entry->d_name[0] == '.');
    closedir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct symbol_store *store;
    static int runs;
    size_t stored = 0;
    if (runs++ % RUNS_OF_ONE_STORE == 0) {
        symbol_store_close(store);
        store = scratch_store_open();
    }
    enum store_status status = scratch_store_take(store, "upload", data, size, check_stored, &stored);
    require((status == STORE_OK) == (stored != 0) || status == STORE_REJECTED || status < 0); /* rejected: a damaged archive, perhaps in part stored */
    check_no_leftovers();
    return 0;
}
