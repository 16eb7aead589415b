/* Counts the pages of an index that opening it and looking up addresses touch, and the page faults that this takes.
 *
 *   bench_pages INDEX ADDRESSES COUNT
 *
 * The file is mapped without access; each page's first read is a signal, which counts the page and gives access to it.
 * Prints one line for frames only, and one for the ends of names and paths found as well. Faults are fewer, as the kernel
 * maps the neighbours of a page that are in memory; they are counted with the file mapped as csn_index_open_file() does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <callsign/index.h>

#include "address_list.h"
#include "watched_pages.h"

enum { FRAMES_MAX = 512 };

static void fail(const char *path) {
    fprintf(stderr, "bench_pages: %s: %s\n", path, strerror(errno));
    exit(2);
}

static void watch_file(const char *path) {
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        fail(path);
    watched.page_size = (size_t)sysconf(_SC_PAGESIZE);
    watched.size = (size_t)st.st_size;
    watched.start = mmap(NULL, watched.size, PROT_NONE, MAP_PRIVATE, fd, 0);
    if (watched.start == MAP_FAILED)
        fail(path);
    close(fd);
    struct sigaction action = { .sa_sigaction = on_touch, .sa_flags = SA_SIGINFO };
    if (sigaction(SIGSEGV, &action, NULL) != 0)
        fail(path);
}

static void look_up(const struct csn_index *index, const struct address_list *list, size_t count, bool strings) {
    struct csn_frame_ref refs[FRAMES_MAX];
    for (size_t k = 0; k < count; k++) {
        struct csn_lookup found;
        csn_status status = csn_index_lookup_refs(index, list->addrs[k], CSN_LOOKUP_DEFAULT, refs, FRAMES_MAX, &found,
                                                  NULL);
        for (size_t f = 0; strings && status == CSN_OK && f < found.frame_count && f < FRAMES_MAX; f++) {
            struct csn_frame frame;
            csn_index_resolve(index, &refs[f], &frame);
        }
    }
}

static long faults_so_far(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static long count_faults(const char *path, const struct address_list *list, size_t count, bool strings) {
    struct csn_index *index;
    long faults = 0;
    /* Once before, so that the program's own pages are there. */
    for (int counted = 0; counted < 2; counted++) {
        long before = faults_so_far();
        if (csn_index_open_file(path, NULL, &index, NULL) < 0)
            fail(path);
        look_up(index, list, count, strings);
        faults = faults_so_far() - before;
        csn_index_close(index);
    }
    return faults;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: bench_pages INDEX ADDRESSES COUNT\n", stderr);
        return 2;
    }
    struct address_list list = address_list_read(argv[2]);
    size_t count = strtoul(argv[3], NULL, 10);
    if (count > list.count)
        count = list.count;
    long faults[2] = { count_faults(argv[1], &list, count, false), count_faults(argv[1], &list, count, true) };
    watch_file(argv[1]);
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (csn_index_open_memory(watched.start, watched.size, NULL, &index, &err) < 0) {
        fprintf(stderr, "bench_pages: %s: %s\n", argv[1], csn_error_text(&err));
        return 2;
    }
    for (int strings = 0; strings < 2; strings++) {
        look_up(index, &list, count, strings);
        printf("%s: open and %zu lookups: %zu pages of %zu, %ld page faults\n", strings ? "strings read" : "views only",
               count, watched.touched, (watched.size + watched.page_size - 1) / watched.page_size, faults[strings]);
    }
    csn_index_close(index);
    free(list.addrs);
    return 0;
}
