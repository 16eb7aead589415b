/* Replacing a file at once. */
#define _GNU_SOURCE
#include "ui/output_file.h"

#include <errno.h>
#include <fcntl.h>
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

/* Standard output or error, if the name is one that systems have for them: a file behind it may have been written to before, and be
 * written to after. -1: it is none, or there are no copies of descriptors, as in WASI. */
static int standard_descriptor(const char *path) {
#ifdef F_DUPFD_CLOEXEC
    struct stat named, own;
    if ((strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0) || stat(path, &named) != 0) return -1;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &own) == 0 && own.st_dev == named.st_dev && own.st_ino == named.st_ino) return fd;
#else
    (void)path;
#endif
    return -1;
}

static int open_descriptor(struct output_file *file, int descriptor) {
#ifdef F_DUPFD_CLOEXEC
    file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
#else
    (void)descriptor;
    errno = ENOTSUP;
#endif
    return file->fd < 0 ? errno : 0;
}

static void forget_paths(struct output_file *file) {
    free(file->temporary);
    free(file->target);
    file->temporary = file->target = NULL;
}

int output_file_open(struct output_file *file, const char *path) {
    struct stat old;
    const int descriptor = standard_descriptor(path);
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
