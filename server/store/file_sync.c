/* Writing files so that they survive a crash. */
#define _GNU_SOURCE
#include "store/file_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

static int sync_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = fsync(fd);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

/* The folder part of `path`. */
static int folder_of(const char *path, char out[LONGEST_PATH]) {
    const char *last = strrchr(path, '/');
    size_t size = last ? (size_t)(last - path) : 1;
    if (size >= LONGEST_PATH) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(out, last ? path : ".", size);
    if (size == 0) out[size++] = '/';
    out[size] = 0;
    return 0;
}

int sync_folder_of(const char *path) {
    char folder[LONGEST_PATH];
    return folder_of(path, folder) < 0 ? -1 : sync_folder(folder);
}

int make_folders(const char *path) {
    char folder[LONGEST_PATH];
    struct stat st;
    if (stat(path, &st) == 0) return S_ISDIR(st.st_mode) ? 0 : (errno = ENOTDIR, -1);
    if (folder_of(path, folder) < 0) return -1;
    if (strcmp(folder, path) != 0 && make_folders(folder) < 0) return -1;
    if (mkdir(path, 0755) < 0) return errno == EEXIST ? 0 : -1;
    return sync_folder(folder);
}

int make_parents(const char *path) {
    char folder[LONGEST_PATH];
    return folder_of(path, folder) < 0 ? -1 : make_folders(folder);
}

int write_all(int fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            if (written == 0) errno = ENOSPC;
            return -1;
        }
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

int write_whole_file(const char *path, const void *bytes, size_t size) {
    char temporary[LONGEST_PATH];
    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) return -1;
    int result = write_all(fd, bytes, size);
    if (result == 0) result = fchmod(fd, 0644);
    if (result == 0) result = fsync(fd);
    if (result == 0) result = rename(temporary, path);
    int error = errno;
    close(fd);
    if (result < 0) unlink(temporary);
    errno = error;
    return result == 0 ? sync_folder_of(path) : -1;
}
