/* Counting the pages of a mapping without access: each page's first read is a signal, which counts it and gives access to it. */
#ifndef CALLSIGN_BENCH_WATCHED_PAGES_H
#define CALLSIGN_BENCH_WATCHED_PAGES_H

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    char *start;
    size_t size, page_size;
    volatile size_t touched;
} watched;

/* The handler of SIGSEGV. */
static void on_touch(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    size_t off = (size_t)((char *)info->si_addr - watched.start);
    char *page = watched.start + off / watched.page_size * watched.page_size;
    if (off >= watched.size || mprotect(page, watched.page_size, PROT_READ) != 0)
        _exit(3);
    watched.touched++;
}

#endif
