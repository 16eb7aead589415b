/* What the C library of WASI lacks. Files that are in memory have no modes and no links. */
#include "wasi_missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int mkstemp(char *name) {
    (void)name;
    errno = ENOSYS;
    return -1;
}

int mkostemp(char *name, int flags) {
    (void)flags;
    return mkstemp(name);
}

/* Advice may be ignored. */
int madvise(void *ptr, size_t size, int advice) {
    (void)ptr, (void)size, (void)advice;
    return 0;
}

/* Paths are absolute, and there are no links. */
char *realpath(const char *path, char *out) {
    if (!out) return strdup(path);
    return strcpy(out, path);
}

int fchmod(int fd, mode_t mode) {
    (void)fd, (void)mode;
    return 0;
}

mode_t umask(mode_t mask) {
    (void)mask;
    return 0;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    (void)number, (void)action;
    if (old) *old = (struct sigaction){ 0 };
    return 0;
}

int flock(int fd, int operation) {
    (void)fd, (void)operation;
    return 0;
}

int execv(const char *path, char *const *arguments) {
    (void)path, (void)arguments;
    errno = ENOSYS;
    return -1;
}
