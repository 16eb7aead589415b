/* Mapping files, and pages that can be given back: POSIX. file_map_windows.c is the other one. */
#ifndef _WIN32
#define _GNU_SOURCE

#include "base/core/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/fail.h"

static csn_status check_kind(const struct stat *st, struct csn_error *err) {
    if (S_ISREG(st->st_mode)) return CSN_OK;
    const bool is_folder = S_ISDIR(st->st_mode);
    csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, is_folder ? "is a directory" : "is not a regular file");
    if (err && is_folder) err->os_error = EISDIR;
    return CSN_E_UNSUPPORTED;
}

/* Files of /proc and the like are made up when they are read, and their size is 0. Their bytes go into a memory file,
 * so that they can be mapped, and forgotten, as others. */
enum { COPY_STEP = 1 << 16 };
static const uint64_t COPY_MAX = (uint64_t)1 << 30;

static csn_status write_all(int fd, const uint8_t *bytes, size_t size, struct csn_error *err) {
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return csni_fail_os(err, errno, "cannot keep a copy of it");
        bytes += written;
        size -= (size_t)written;
    }
    return CSN_OK;
}

static csn_status copy_fd(int from, int to, uint64_t *size, struct csn_error *err) {
    uint8_t bytes[COPY_STEP];
    for (*size = 0;;) {
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return csni_fail_os(err, errno, "cannot read it");
        if (!got) return CSN_OK;
        *size += (size_t)got;
        if (*size > COPY_MAX)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "says that its size is 0, but has more than %" PRIu64 " bytes", COPY_MAX);
        CSNI_TRY(write_all(to, bytes, (size_t)got, err));
    }
}

static csn_status map_bytes(struct csni_file_map *map, int fd, uint64_t size, struct csn_error *err) {
    if (size > SIZE_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%" PRIu64 " bytes do not fit the address space", size);
    void *address = NULL;
    if (size) {
        address = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (address == MAP_FAILED) return csni_fail_os(err, errno, "cannot map it");
    }
    *map = (struct csni_file_map){ { address, (size_t)size }, address, (size_t)size };
    return CSN_OK;
}

/* Without memfd_create (macOS, FreeBSD before 13): a file without a name. */
static int open_memory_file(void) {
#ifdef __linux__
    return memfd_create("callsign", MFD_CLOEXEC);
#else
    char name[] = "/tmp/callsign-XXXXXX";
    int fd = mkstemp(name);
    if (fd >= 0) {
        unlink(name);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
#endif
}

static csn_status map_unsized(struct csni_file_map *map, int fd, struct csn_error *err) {
    uint64_t size;
    int copy = open_memory_file();
    if (copy < 0) return csni_fail_os(err, errno, "cannot keep a copy of it");
    csn_status status = copy_fd(fd, copy, &size, err);
    if (status >= 0) status = map_bytes(map, copy, size, err);
    close(copy);
    return status;
}

static csn_status map_fd(struct csni_file_map *map, int fd, struct csni_file_node *node, struct csn_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) return csni_fail_os(err, errno, "cannot read its size");
    *node = (struct csni_file_node){ (uint64_t)st.st_dev, (uint64_t)st.st_ino };
    CSNI_TRY(check_kind(&st, err));
    return st.st_size > 0 ? map_bytes(map, fd, (uint64_t)st.st_size, err) : map_unsized(map, fd, err);
}

csn_status csni_file_map_open_node(struct csni_file_map *map, const char *path, struct csni_file_node *node,
                                   struct csn_error *err) {
    int fd;
    /* Not blocking: a pipe without a writer must be refused, not waited for. Regular files do not care. */
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        int os_error = errno;
        struct stat st;
        if (os_error == ENXIO && stat(path, &st) == 0) CSNI_TRY(check_kind(&st, err)); /* a socket */
        return csni_fail_os(err, os_error, NULL);
    }
    csn_status status = map_fd(map, fd, node, err);
    close(fd);
    return status;
}

csn_status csni_file_map_open(struct csni_file_map *map, const char *path, struct csn_error *err) {
    struct csni_file_node node;
    return csni_file_map_open_node(map, path, &node, err);
}

void csni_file_map_close(struct csni_file_map *map) {
    if (!map) return;
    if (map->mapped) munmap(map->address, map->mapped);
    *map = (struct csni_file_map){ { NULL, 0 }, NULL, 0 };
}

static size_t page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

static void advise_whole_pages(const void *ptr, size_t size, int advice) {
    if (!ptr) return;
    size_t page = page_size();
    size_t head = (page - (uintptr_t)ptr % page) % page;
    if (size < head) return;
    size_t whole = (size - head) / page * page;
    /* Failing is no harm: the pages stay as they are. */
    if (whole) madvise((void *)((uintptr_t)ptr + head), whole, advice);
}

void csni_file_map_forget(const void *ptr, size_t size) { advise_whole_pages(ptr, size, MADV_DONTNEED); }

/* No MADV_HUGEPAGE. Measured with 400 MB (Linux 6.18, virtual machine): filled front to back 0.07 to 0.10 s instead of
 * 0.20 to 0.28 s right after another such run, but 1.2 to 1.9 s once the host had taken the free huge pages back, and a
 * region of which every fourth page is touched takes 401 MB instead of 101 MB. */
void *csni_pages_alloc(size_t size) {
    if (!size) return NULL;
    void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return ptr == MAP_FAILED ? NULL : ptr;
}

void csni_pages_free(void *ptr, size_t size) {
    if (ptr && size) munmap(ptr, size);
}

void csni_pages_populate(void *ptr, size_t size) {
#ifdef MADV_POPULATE_WRITE
    advise_whole_pages(ptr, size, MADV_POPULATE_WRITE);
#else
    (void)ptr;
    (void)size;
#endif
}

/* Only Linux promises zeros after MADV_DONTNEED; a new mapping over the old one reads as zero everywhere. */
void csni_pages_discard(void *ptr, size_t size) {
#ifdef __linux__
    advise_whole_pages(ptr, size, MADV_DONTNEED);
#else
    size_t page = page_size(), head = (page - (uintptr_t)ptr % page) % page;
    if (!ptr || size < head + page) return;
    mmap((void *)((uintptr_t)ptr + head), (size - head) / page * page, PROT_READ | PROT_WRITE,
         MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
}

void csni_pages_prefer_huge(void *ptr, size_t size) {
#ifdef MADV_HUGEPAGE
    size_t page = page_size(), head = (page - (uintptr_t)ptr % page) % page;
    if (size > head) (void)madvise((void *)((uintptr_t)ptr + head), (size - head) / page * page, MADV_HUGEPAGE);
#else
    (void)ptr;
    (void)size;
#endif
}
#endif
