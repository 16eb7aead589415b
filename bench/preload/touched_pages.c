/* Counts the pages of one file that a program touches, whatever library maps it: what bench_pages does from within.
 *
 *   TOUCHED_FILE=PATH LD_PRELOAD=touched_pages.so PROGRAM...
 *
 * The file's first mapping has no access; each page's first read is a signal, which counts the page and gives access to it.
 * At the end a line on stderr: "touched N pages of M". */
#undef _FILE_OFFSET_BITS /* mmap() and mmap64() are both defined here */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../watched_pages.h"

static bool is_watched_file(int fd) {
    const char *path = getenv("TOUCHED_FILE");
    struct stat mapped, named;
    return fd >= 0 && !watched.start && path && fstat(fd, &mapped) == 0 && stat(path, &named) == 0 &&
           mapped.st_ino == named.st_ino && mapped.st_dev == named.st_dev;
}

static void watch(char *start, size_t length) {
    struct sigaction action = { .sa_sigaction = on_touch, .sa_flags = SA_SIGINFO };
    watched.page_size = (size_t)sysconf(_SC_PAGESIZE);
    watched.size = (length + watched.page_size - 1) / watched.page_size * watched.page_size;
    watched.start = start;
    sigaction(SIGSEGV, &action, NULL);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    bool counted = is_watched_file(fd);
    void *start = (void *)syscall(SYS_mmap, address, length, counted ? PROT_NONE : protection, flags, fd, offset);
    if (counted && start != MAP_FAILED)
        watch(start, length);
    return start;
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap(address, length, protection, flags, fd, offset);
}

__attribute__((destructor)) static void tell(void) {
    if (watched.start)
        fprintf(stderr, "touched %zu pages of %zu\n", watched.touched, watched.size / watched.page_size);
}
