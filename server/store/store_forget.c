/* What a file leaves behind when it goes: its entry in the catalogue, and what was made of it. */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/store_private.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0;
}

/* Indexes and Breakpad files: without their source they would answer for it still. */
static void remove_conversions(const struct symbol_store *store, const char *id) {
    enum { OPEN_FOLDERS = 8 };
    char path[2 * STORE_PATH_SIZE];
    if (strlen(id) < 3) return;
    snprintf(path, sizeof(path), "%s/.callsign/converted/%.2s/%s.gsym", store->dir, id, id + 2);
    unlink(path);
    snprintf(path, sizeof(path), "%s/.callsign/damaged/%s.gsym", store->dir, id);
    unlink(path);
    snprintf(path, sizeof(path), "%s/.callsign/breakpad/%s", store->dir, id);
    nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

void symbol_store_forget(struct symbol_store *store, const char *path) {
    struct artifact artifact;
    const bool is_known = catalogue_find(store->catalogue, CATALOGUE_PATH, path, UINT32_MAX, &artifact, 1) == 1;
    catalogue_remove(store->catalogue, path);
    if (!is_known) return;
    remove_conversions(store, artifact.build_id);
    remove_conversions(store, artifact.htlhash);
}
