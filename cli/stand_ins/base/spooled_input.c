/* A copy of standard input, which may be a pipe. */
#define _GNU_SOURCE
#include "stand_ins/base/spooled_input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* False: it cannot be copied. */
static bool copy_input(int to) {
    char buffer[65536];
    ssize_t got;
    while ((got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR))
        for (ssize_t at = 0, put; at < got; at += put)
            if ((put = write(to, buffer + at, (size_t)(got - at))) <= 0) return false;
    return got == 0;
}

const char *spooled_input_path(void) {
    static char path[64];
    if (path[0]) return path;
    const int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 && copy_input(fd)) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    else strcpy(path, "/dev/null");
    return path;
}

const char *input_path(const char *path) { return strcmp(path, "-") == 0 ? spooled_input_path() : path; }
