#define _GNU_SOURCE
#include "base/descriptor_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef F_DUPFD_CLOEXEC

int csni_descriptor_of_path(const char *path) {
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return 1;
    if (strcmp(path, "/dev/stderr") == 0) return 2;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t len = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], len) != 0 || path[len] < '0' || path[len] > '9') continue;
        const unsigned long number = strtoul(path + len, &end, 10);
        return !*end && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

int csni_descriptor_copy(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

#else /* WASI */

int csni_descriptor_of_path(const char *path) {
    (void)path;
    return -1;
}

int csni_descriptor_copy(int descriptor) {
    (void)descriptor;
    errno = ENOTSUP;
    return -1;
}

#endif
