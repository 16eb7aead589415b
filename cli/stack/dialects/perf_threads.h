/* Which process a thread is of, as the records in the text of `perf script` tell. */
#ifndef CALLSIGN_CLI_PERF_THREADS_H
#define CALLSIGN_CLI_PERF_THREADS_H

#include <stdbool.h>

#include <callsign/base.h>

/* 4,096 threads in sets of eight, the newest first: a line takes the same time whatever came before it. All zeros at first. */
enum { PERF_THREAD_SETS = 512, PERF_THREAD_WAYS = 8 };
struct perf_threads {
    struct perf_thread {
        uint32_t thread, process; /* 0, 0: none. That is the idle thread, too, which needs no place */
    } sets[PERF_THREAD_SETS][PERF_THREAD_WAYS];
};

/* Where the set is full, its oldest thread is forgotten. The process is also the number of its first thread. */
void perf_threads_add(struct perf_threads *threads, uint64_t thread, uint64_t process);
bool perf_threads_find(const struct perf_threads *threads, uint64_t thread, uint64_t *out_process);

/* "COMM: app:4242/4243", "FORK(4242:4243):(4242:4242)", "EXIT(...", which follow "PERF_RECORD_". False: it is another record. */
bool perf_threads_read_record(struct perf_threads *threads, struct csn_str record);

#endif
