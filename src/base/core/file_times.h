/* When a file was read and changed last: macOS has other names for these members of struct stat. */
#ifndef CSNI_FILE_TIMES_H
#define CSNI_FILE_TIMES_H

#include <sys/stat.h>
#include <time.h>

static inline struct timespec csni_time_read(const struct stat *st) {
#ifdef __APPLE__
    return st->st_atimespec;
#else
    return st->st_atim;
#endif
}

static inline struct timespec csni_time_changed(const struct stat *st) {
#ifdef __APPLE__
    return st->st_mtimespec;
#else
    return st->st_mtim;
#endif
}

#endif
