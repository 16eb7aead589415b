/* Replacing a file at once. */
#define _GNU_SOURCE
#include "ui/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/output_path.h"

/* 0, or the errno of a target that is write-protected, which a rename would replace without asking. */
static int find_mode(const char *target, unsigned *out) {
    struct stat old;
    if (stat(target, &old) == 0) {
        *out = old.st_mode & 0777;
        return faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0 ? 0 : errno;
    }
    const mode_t mask = umask(0);
    umask(mask);
    *out = 0666 & ~mask;
    return 0;
}

static int open_temporary(struct output_file *file) {
    const int refusal = find_mode(file->target, &file->mode);
    if (refusal) return refusal;
    if (asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
        file->temporary = NULL;
        return ENOMEM;
    }
    file->fd = mkostemp(file->temporary, O_CLOEXEC);
    return file->fd < 0 ? errno : 0;
}

static int open_special(struct output_file *file) {
    file->fd = open(file->target, O_WRONLY | O_CLOEXEC);
    return file->fd < 0 ? errno : 0;
}

/* As base/descriptor_path.h has it: the descriptor that /dev/stdout and its like stand for; -1: none. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t len = strlen(folders[i]);
        char *end;
        if (strncmp(path, folders[i], len) != 0 || path[len] < '0' || path[len] > '9') continue;
        const unsigned long number = strtoul(path + len, &end, 10);
        return !*end && number <= INT_MAX ? (int)number : -1;
    }
    return -1;
}

static int open_descriptor(struct output_file *file, int descriptor) {
    file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return file->fd < 0 ? errno : 0;
}

static void forget_paths(struct output_file *file) {
    free(file->temporary);
    free(file->target);
    file->temporary = file->target = NULL;
}

int output_file_open(struct output_file *file, const char *path) {
    struct stat old;
    const int descriptor = descriptor_of(path);
    *file = (struct output_file){ .fd = -1, .target = output_target(path) };
    if (!file->target) return errno;
    const bool is_special = stat(file->target, &old) == 0 && !S_ISREG(old.st_mode);
    const int fault = descriptor >= 0 ? open_descriptor(file, descriptor) : is_special ? open_special(file) : open_temporary(file);
    if (fault) forget_paths(file);
    return fault;
}

int output_file_finish(struct output_file *file, int os_error) {
    if (!os_error && file->temporary && fchmod(file->fd, file->mode) < 0) os_error = errno;
    if (close(file->fd) < 0 && !os_error) os_error = errno;
    if (file->temporary && !os_error && rename(file->temporary, file->target) < 0) os_error = errno;
    if (file->temporary && os_error) unlink(file->temporary);
    forget_paths(file);
    return os_error;
}
