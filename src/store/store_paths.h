/* Parts of paths. Names from images are bytes: nothing here gives them a meaning beyond '/'. */
#ifndef CSNI_STORE_PATHS_H
#define CSNI_STORE_PATHS_H

#include "store/companion_search.h"

/* What stands after the last '/'. */
const char *csni_path_base(const char *path);

/* Of a path below /proc/PID/root, the size of that; otherwise 0. */
size_t csni_path_root(const char *path);

/* The folders that `path` is in: as it is written ("." where it has none), by its real path, and that of the own root whose
 * name one below /proc/PID/root has, as far as these differ. Count 0: too long. */
struct csni_folders {
    char text[4][CSNI_PATH_SIZE];
    size_t count;
};
void csni_path_folders(const char *path, struct csni_folders *out);

/* The last `CSNI_PATH_SHOWN` bytes of a path, for messages whose other half must not be lost. */
enum { CSNI_PATH_SHOWN = 90 };
struct csni_path_shown {
    char text[CSNI_PATH_SHOWN + sizeof "..."];
};
struct csni_path_shown csni_path_show(const char *path);
/* A URL without what may be secret: user and password, the query. */
struct csni_path_shown csni_url_show(const char *url);

/* `text` with small letters, of ASCII; as much as there is room for. False: it has no others. */
bool csni_small_letters(const char *text, char *out, size_t size);

/* An id as hexadecimal digits. False: longer than any. */
enum { CSNI_ID_MAX = 64, CSNI_ID_TEXT_SIZE = 2 * CSNI_ID_MAX + 1 };
bool csni_id_text(const uint8_t *id, size_t size, char out[CSNI_ID_TEXT_SIZE]);

#endif
