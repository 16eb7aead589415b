/* Where conversions are kept. */
#define _GNU_SOURCE
#include "input/cache_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ui/cli_message.h"

static char *joined(const char *folder, const char *name) {
    char *path;
    return asprintf(&path, "%s%s", folder, name) < 0 ? NULL : path;
}

bool cache_folder_fits(const char *given) {
    struct stat st;
    if (!given || !*given || stat(given, &st) < 0 || S_ISDIR(st.st_mode)) return true;
    cli_error(given, "is not a folder: it cannot be the cache");
    return false;
}

char *cache_folder(const char *given) {
    const char *own = getenv("CALLSIGN_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (given) return *given ? strdup(given) : NULL;
    if (own) return *own ? strdup(own) : NULL;
    if (xdg && xdg[0] == '/') return joined(xdg, "/callsign");
    return home && home[0] == '/' ? joined(home, "/.cache/callsign") : NULL;
}
