/* Output files that appear whole or not at all. */
#define _GNU_SOURCE

#include "base/file_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/fail.h"

enum {
    MAX_LINKS = 40,          /* of a chain, as many as Linux follows */
    MAX_TRIES = 1000,        /* names of other processes' temporary files to step over */
    MAX_SUFFIX = 40,         /* ".tmp-PID-TRY" */
    MAX_STEM = 255 - MAX_SUFFIX,
    MAX_WHAT = 2 * PATH_MAX, /* for the text of an error; csni_fail_os shortens it */
    DISK_STEP = 1 << 20,     /* the disk is set to work when there is so much for it */
};

static csn_status fail_path(struct csn_error *err, int os_error, const char *verb, const char *path, size_t len) {
    char what[MAX_WHAT];
    if (!err) return CSN_E_IO;
    snprintf(what, sizeof what, "%s%.*s", verb, len > PATH_MAX ? PATH_MAX : (int)len, path);
    return csni_fail_os(err, os_error, what);
}

static csn_status fail_target(struct csn_error *err, int os_error, const char *verb, const char *target) {
    return fail_path(err, os_error, verb, target, strlen(target));
}

static char *join(const struct csn_allocator *alloc, const char *head, size_t head_len, const char *tail) {
    size_t tail_size = strlen(tail) + 1;
    char *text = csni_alloc(alloc, head_len + tail_size);
    if (!text) return NULL;
    memcpy(text, head, head_len);
    memcpy(text + head_len, tail, tail_size);
    return text;
}

static void free_text(const struct csn_allocator *alloc, char *text) {
    if (text) csni_free(alloc, text, strlen(text) + 1);
}

/* Length of the part up to and including the last slash; 0 for a name in the current folder. */
static size_t folder_len(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The file that a chain of symbolic links leads to, which need not exist: so that the link stays and its target is replaced. */
static csn_status follow_links(const char *target, const struct csn_allocator *alloc, char **out,
                               struct csn_error *err) {
    char *path = join(alloc, target, strlen(target), "");
    if (!path) return csni_fail_memory(err, strlen(target) + 1);
    for (unsigned i = 0; i < MAX_LINKS; i++) {
        char link[PATH_MAX];
        ssize_t len = readlink(path, link, sizeof link - 1);
        if (len < 0) { /* not a link, or not there; what else is wrong shows when the file is made */
            *out = path;
            return CSN_OK;
        }
        link[len] = 0;
        char *next = join(alloc, path, link[0] == '/' ? 0 : folder_len(path), link);
        free_text(alloc, path);
        if (!next) return csni_fail_memory(err, (uint64_t)len + 1);
        path = next;
    }
    free_text(alloc, path);
    return fail_target(err, ELOOP, "", target);
}

/* Whether a file may stand there; *exists and *mode describe one that does. */
static csn_status check_target(const char *target, bool *exists, mode_t *mode, struct csn_error *err) {
    struct stat st;
    *exists = stat(target, &st) == 0;
    if (!*exists) return errno == ENOENT ? CSN_OK : fail_target(err, errno, "", target);
    if (S_ISDIR(st.st_mode)) return fail_target(err, EISDIR, "", target);
    if (!S_ISREG(st.st_mode))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "%s: not a regular file, will not be replaced", target);
    /* Renaming would replace a write-protected file without asking. */
    if (faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0) return fail_target(err, errno, "", target);
    *mode = st.st_mode & 0777;
    return CSN_OK;
}

/* Made with open() and not mkostemp(), which gives mode 0600: the umask, which only the whole process could read and
 * set, then applies by itself. */
static csn_status create_temporary(struct csni_file_output *out, struct csn_error *err) {
    size_t folder = folder_len(out->target), stem = strlen(out->target) - folder;
    if (stem > MAX_STEM) stem = MAX_STEM; /* a name as long as names may be */
    int os_error = EEXIST;
    for (unsigned i = 0; i < MAX_TRIES && os_error == EEXIST; i++) {
        char suffix[MAX_SUFFIX];
        snprintf(suffix, sizeof suffix, ".tmp-%ld-%u", (long)getpid(), i);
        char *name = join(out->alloc, out->target, folder + stem, suffix);
        if (!name) return csni_fail_memory(err, folder + stem + sizeof suffix);
        do out->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        while (out->fd < 0 && errno == EINTR);
        if (out->fd >= 0) {
            out->temporary = name;
            return CSN_OK;
        }
        os_error = errno;
        free_text(out->alloc, name);
    }
    if (!folder) return fail_target(err, os_error, "cannot create a file in ", ".");
    return fail_path(err, os_error, "cannot create a file in ", out->target, folder);
}

/* Done before the first byte: what was private is never readable to others. Where all files have one mode (FAT, some
 * network file systems) there is nothing to change, and changing would be refused. */
static csn_status keep_mode(const struct csni_file_output *out, mode_t mode, struct csn_error *err) {
    struct stat st;
    if (fstat(out->fd, &st) == 0 && (st.st_mode & 0777) == mode) return CSN_OK;
    if (fchmod(out->fd, mode) == 0) return CSN_OK;
    return fail_target(err, errno, "cannot set the mode of ", out->target);
}

csn_status csni_file_output_open(struct csni_file_output *out, const char *target, const struct csn_allocator *alloc,
                                 struct csn_error *err) {
    *out = (struct csni_file_output){ .fd = -1, .alloc = alloc };
    if (!*target) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the name of the output file is empty");
    bool exists = false;
    mode_t mode = 0;
    csn_status status = follow_links(target, alloc, &out->target, err);
    if (status >= 0) status = check_target(out->target, &exists, &mode, err);
    if (status >= 0) status = create_temporary(out, err);
    if (status >= 0 && exists) status = keep_mode(out, mode, err);
    if (status < 0) csni_file_output_abort(out);
    return status;
}

csn_status csni_file_output_take_mode(struct csni_file_output *out, const char *path, struct csn_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) return fail_target(err, errno, "", path);
    return keep_mode(out, st.st_mode & 0777, err);
}

/* What has been written is on its way to the disk while more comes, so that syncing at the end has less to wait for. */
static void start_disk(const struct csni_file_output *out) {
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(out->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)out;
#endif
}

csn_status csni_file_output_write(struct csni_file_output *out, uint64_t offset, const void *bytes, size_t size,
                                  struct csn_error *err) {
    const uint8_t *p = bytes;
    if (offset > INT64_MAX || size > INT64_MAX - offset) return fail_target(err, EFBIG, "write to ", out->target);
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(out->fd, p + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail_target(err, n < 0 ? errno : ENOSPC, "write to ", out->target);
        done += (size_t)n;
    }
    uint64_t end = offset + size, seen = __atomic_load_n(&out->size, __ATOMIC_RELAXED);
    while (seen < end &&
           !__atomic_compare_exchange_n(&out->size, &seen, end, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    if (seen < end && seen / DISK_STEP != end / DISK_STEP) start_disk(out);
    return CSN_OK;
}

/* The rename is durable only once its folder is. Failing is no error: the file is complete under one name or the
 * other, and some file systems cannot sync a folder. */
static void sync_folder(const char *path, const struct csn_allocator *alloc) {
    size_t len = folder_len(path);
    char *folder = join(alloc, len ? path : ".", len ? len : 1, "");
    if (!folder) return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free_text(alloc, folder);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

csn_status csni_file_output_finish(struct csni_file_output *out, struct csn_error *err) {
    csn_status status = CSN_OK;
    if (fsync(out->fd) != 0) status = fail_target(err, errno, "write to ", out->target);
    /* Network file systems report a full disk as late as here. */
    if (close(out->fd) != 0 && status >= 0 && errno != EINTR)
        status = fail_target(err, errno, "write to ", out->target);
    out->fd = -1;
    if (status < 0) csni_file_output_abort(out);
    return status;
}

csn_status csni_file_output_commit(struct csni_file_output *out, struct csn_error *err) {
    csn_status status = out->fd >= 0 ? csni_file_output_finish(out, err) : CSN_OK;
    if (status >= 0 && rename(out->temporary, out->target) != 0)
        status = fail_target(err, errno, "cannot rename the finished file to ", out->target);
    if (status >= 0) {
        sync_folder(out->target, out->alloc);
        free_text(out->alloc, out->temporary);
        out->temporary = NULL;
    }
    csni_file_output_abort(out); /* of a renamed file, only the memory is left */
    return status;
}

void csni_file_output_abort(struct csni_file_output *out) {
    if (!out) return;
    if (out->temporary) {
        if (out->fd >= 0) close(out->fd);
        unlink(out->temporary);
    }
    free_text(out->alloc, out->temporary);
    free_text(out->alloc, out->target);
    out->fd = -1;
    out->temporary = out->target = NULL;
}
