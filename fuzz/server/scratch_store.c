/* A store for a fuzz target. */
#define _GNU_SOURCE
#include "server/scratch_store.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/file_sync.h"

enum { LARGEST_FILE = 64 << 20 };

static char folder[128];

static void require(bool condition, const char *what) {
    if (condition) return;
    perror(what);
    abort();
}

static int remove_path(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void remove_folder(void) {
    if (*folder) nftw(folder, remove_path, 16, FTW_DEPTH | FTW_PHYS);
    *folder = 0;
}

/* Of what is unpacked, no file may fill the memory. */
static void limit_files(void) {
    static bool is_done;
    if (is_done) return;
    is_done = true;
    atexit(remove_folder);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ LARGEST_FILE, LARGEST_FILE });
}

struct symbol_store *scratch_store_open(void) {
    const char *wanted = getenv("TMPDIR");
    struct symbol_store *store = NULL;
    char why[256] = "";
    limit_files();
    remove_folder();
    snprintf(folder, sizeof(folder), "%.80s/callsign-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : wanted ? wanted : "/tmp");
    require(mkdtemp(folder) != NULL, folder);
    struct store_options options = { .dir = folder };
    require(symbol_store_open(&options, &store, why, sizeof(why)) == 0, why);
    return store;
}

const char *scratch_store_dir(void) { return folder; }

enum store_status scratch_store_take(struct symbol_store *store, const char *name, const void *bytes, size_t size,
                                     intake_note *note, void *context) {
    struct incoming incoming;
    char why[256] = "";
    require(incoming_create(store, &incoming, why, sizeof(why)) == 0, why);
    require(write_all(incoming.fd, bytes, size) == 0, "write");
    enum store_status status = store_take_file(store, &incoming, name, "fuzz", note, context, why, sizeof(why));
    require(incoming.fd < 0, "the incoming file is used up");
    return status;
}
