/* A table of threads that a long recording, or a hostile text, cannot make large or slow. */
#include "stack/dialects/perf_threads.h"

#include "stack/lines/line_scan.h"

/* Numbers of threads often follow each other, or are all even: those of a program shall not be in one set. */
static size_t set_of(uint64_t thread) { return (size_t)((uint32_t)thread * 2654435761u >> 23) % PERF_THREAD_SETS; }

/* ---- the table ---- */

static void add_one(struct perf_threads *threads, uint32_t thread, uint32_t process) {
    struct perf_thread *set = threads->sets[set_of(thread)];
    size_t place = 0;
    while (place < PERF_THREAD_WAYS - 1 && set[place].thread != thread) place++;
    for (; place; place--) set[place] = set[place - 1];
    set[0] = (struct perf_thread){ thread, process };
}

void perf_threads_add(struct perf_threads *threads, uint64_t thread, uint64_t process) {
    if (!thread || !process || thread > UINT32_MAX || process > UINT32_MAX) return;
    if (thread != process) add_one(threads, (uint32_t)process, (uint32_t)process);
    add_one(threads, (uint32_t)thread, (uint32_t)process);
}

bool perf_threads_find(const struct perf_threads *threads, uint64_t thread, uint64_t *out_process) {
    if (!thread || thread > UINT32_MAX) return false;
    const struct perf_thread *set = threads->sets[set_of(thread)];
    for (size_t i = 0; i < PERF_THREAD_WAYS; i++) {
        if (set[i].thread != thread) continue;
        *out_process = set[i].process;
        return true;
    }
    return false;
}

/* ---- records ---- */

/* "4242:4243" or "4242/4243" */
static bool read_thread(struct line_scan *s, char between, uint64_t *process, uint64_t *thread) {
    return scan_number(s, 10, process) && scan_char(s, between) && scan_number(s, 10, thread);
}

/* "(4242:4243):(4242:4242)": the thread, and the one that made it. Who waits for a thread that ends tells nothing of it. */
static bool read_task(struct perf_threads *threads, struct line_scan *s, bool is_fork) {
    uint64_t process, thread, parent_process, parent;
    if (!scan_char(s, '(') || !read_thread(s, ':', &process, &thread) || !scan_text(s, "):(")) return false;
    if (!read_thread(s, ':', &parent_process, &parent) || !scan_char(s, ')')) return false;
    if (is_fork) perf_threads_add(threads, parent, parent_process);
    if (is_fork) perf_threads_add(threads, thread, process);
    return true;
}

bool perf_threads_read_record(struct perf_threads *threads, struct csn_str record) {
    struct line_scan s = scan_on(record);
    uint64_t process, thread;
    size_t colon;
    if (scan_text(&s, "FORK")) return read_task(threads, &s, true);
    if (scan_text(&s, "EXIT")) return read_task(threads, &s, false);
    if (!scan_text(&s, "COMM: ") && !scan_text(&s, "COMM exec: ")) return false;
    if (!scan_find_last(&s, ':', &colon)) return false; /* a command may have colons, too */
    s.at = colon + 1;
    if (!read_thread(&s, '/', &process, &thread)) return false;
    perf_threads_add(threads, thread, process);
    return true;
}
