/* Partial uploads: a file for each, locked by the request that writes it. Its size is how far the upload has come. */
#define _GNU_SOURCE
#include "store/partial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/file_sync.h"

bool upload_id_is_good(const char *id) {
    size_t size = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
    return size > 0 && size < UPLOAD_ID_SIZE && !id[size];
}

static void folder_path(const struct symbol_store *store, char out[STORE_PATH_SIZE]) {
    snprintf(out, STORE_PATH_SIZE, "%s/.callsign/partial", symbol_store_dir(store));
}

static void key_path(const struct symbol_store *store, const struct partial_key *key, char out[STORE_PATH_SIZE]) {
    uint64_t tenant = text_hash(key->tenant, strlen(key->tenant)), name = text_hash(key->name, strlen(key->name));
    snprintf(out, STORE_PATH_SIZE, "%s/.callsign/partial/%016llx-%016llx-%llu-%s", symbol_store_dir(store),
             (unsigned long long)tenant, (unsigned long long)name, (unsigned long long)key->total, key->id);
}

static uint64_t count_files(const char *folder) {
    DIR *dir = opendir(folder);
    uint64_t count = 0;
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir));) count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* Whether `path` still names the open file: a finished upload is renamed into the store, and must not be written any more. */
static bool is_still_at(int fd, const char *path, struct stat *out) {
    struct stat named;
    return fstat(fd, out) == 0 && stat(path, &named) == 0 && named.st_ino == out->st_ino && named.st_dev == out->st_dev;
}

static bool may_begin(const struct symbol_store *store, const char *path, uint64_t most) {
    char folder[STORE_PATH_SIZE];
    folder_path(store, folder);
    make_folders(folder);
    return access(path, F_OK) == 0 || count_files(folder) < most;
}

enum partial_status partial_open(struct symbol_store *store, const struct partial_key *key, uint64_t most,
                                 struct incoming *out, uint64_t *have) {
    struct stat st;
    *have = 0;
    out->fd = -1;
    out->is_kept = true;
    key_path(store, key, out->path);
    if (most && !may_begin(store, out->path, most)) return PARTIAL_TOO_MANY;
    int fd = open(out->path, O_RDWR | O_CLOEXEC | (most ? O_CREAT : 0), 0644);
    if (fd < 0) return errno == ENOENT && !most ? PARTIAL_NONE : PARTIAL_FAILED;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_still_at(fd, out->path, &st)) {
        close(fd);
        return PARTIAL_BUSY;
    }
    out->fd = fd;
    *have = (uint64_t)st.st_size;
    return PARTIAL_OPEN;
}

static void remove_if_old(const char *path, time_t before) {
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still_at(fd, path, &st) && st.st_mtime < before) unlink(path);
    close(fd);
}

void partials_remove_old(struct symbol_store *store, uint64_t age_s) {
    char folder[STORE_PATH_SIZE], path[STORE_PATH_SIZE + NAME_MAX + 2];
    folder_path(store, folder);
    DIR *dir = opendir(folder);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        remove_if_old(path, time(NULL) - (time_t)age_s);
    }
    closedir(dir);
}
