/* Locks and negative entries: small files beside an entry.
 *
 * A lock is flock(2) on ab/cdef.lock. The kernel releases it with the process, so a killed conversion blocks nobody. The file
 * is removed while it is locked; who waited for it sees that its name is gone or stands for another file, and starts over. */
#define _GNU_SOURCE
#include "store/index_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/core/endian.h"
#include "base/core/file_times.h"

enum { LOCK_TRIES = 1000, NEGATIVE_SIZE = 16 };
static const char NEGATIVE_MAGIC[8] = { 'C', 'S', 'N', 'N', 'O', 'N', 'E', '1' };

static bool is_still_named(int fd, const char *path) {
    struct stat own, named;
    return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev;
}

static csn_status lock_path(const char *path, int operation, struct csni_cache_lock *out) {
    out->fd = -1;
    for (int i = 0; i < LOCK_TRIES; i++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) return CSN_NONE;
        /* A signal ends the wait: the conversion that follows without the lock is where a user stops it. */
        if (flock(fd, operation) != 0) {
            close(fd);
            return CSN_NONE;
        }
        if (is_still_named(fd, path)) {
            out->fd = fd;
            snprintf(out->path, sizeof out->path, "%s", path);
            return CSN_OK;
        }
        close(fd);
    }
    return CSN_NONE;
}

csn_status csni_cache_lock(struct csn_cache *cache, const struct csni_cache_key *key, struct csni_cache_lock *out) {
    char path[CSNI_CACHE_PATH_SIZE];
    out->fd = -1;
    if (!csni_cache_path(cache, key, ".lock", path)) return CSN_NONE;
    (void)csni_cache_make_folders(cache, path, NULL); /* what fails shows when the file is made */
    return lock_path(path, LOCK_EX, out);
}

csn_status csni_cache_try_lock_path(const char *path, struct csni_cache_lock *out) {
    return lock_path(path, LOCK_EX | LOCK_NB, out);
}

void csni_cache_unlock(struct csni_cache_lock *lock) {
    if (lock->fd < 0) return;
    unlink(lock->path);
    flock(lock->fd, LOCK_UN); /* a process forked meanwhile may have the descriptor still open */
    close(lock->fd);
    lock->fd = -1;
}

/* ---- negative entries ---- */

bool csni_cache_is_negative(struct csn_cache *cache, const struct csni_cache_key *key, uint64_t settings) {
    char path[CSNI_CACHE_PATH_SIZE];
    uint8_t bytes[NEGATIVE_SIZE];
    struct stat st;
    if (!csni_cache_path(cache, key, ".none", path)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    bool is_good = read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fstat(fd, &st) == 0
                   && memcmp(bytes, NEGATIVE_MAGIC, sizeof NEGATIVE_MAGIC) == 0
                   && csni_get64(bytes + sizeof NEGATIVE_MAGIC, false) == settings;
    close(fd);
    if (!is_good) return false;
    struct timespec now; /* time() may be behind the clock that files are stamped with */
    clock_gettime(CLOCK_REALTIME, &now);
    const time_t made = csni_time_changed(&st).tv_sec;
    return now.tv_sec >= made && (uint64_t)(now.tv_sec - made) < cache->options.negative_s;
}

/* Not synced and not renamed: one that is damaged is none. */
void csni_cache_put_negative(struct csn_cache *cache, const struct csni_cache_key *key, uint64_t settings) {
    char path[CSNI_CACHE_PATH_SIZE];
    uint8_t bytes[NEGATIVE_SIZE];
    memcpy(bytes, NEGATIVE_MAGIC, sizeof NEGATIVE_MAGIC);
    csni_put64(bytes + sizeof NEGATIVE_MAGIC, settings, false);
    if (!csni_cache_path(cache, key, ".none", path)) return;
    (void)csni_cache_make_folders(cache, path, NULL); /* what fails shows when the file is made */
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return;
    bool is_whole = write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    close(fd);
    if (!is_whole) unlink(path);
}

void csni_cache_drop_negative(struct csn_cache *cache, const struct csni_cache_key *key) {
    char path[CSNI_CACHE_PATH_SIZE];
    if (csni_cache_path(cache, key, ".none", path)) unlink(path);
}
