/* What one input of a target may take. The target's own LLVMFuzzerTestOneInput() is compiled as fuzz_one_input()
 * (cmake/fuzz.cmake); the one that engines call is here. It measures processor time of the process, all threads, and with
 * AddressSanitizer the largest number of bytes that are allocated at a time, and aborts where either is more than
 * budget_rows.c allows for an input of that size. With FUZZ_BUDGET_LOG=FILE it also appends a line for each input
 * (`scripts/fuzz --budgets`): size, nanoseconds, bytes, and what was allowed of both. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "budget/budget.h"

#if defined(__SANITIZE_ADDRESS__)
#define MEASURES_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEASURES_HEAP
#endif
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int fuzz_one_input(const uint8_t *data, size_t size);

/* What is over its time is run again: the machine's other work, which slows this down, does not do so each time. */
enum { ATTEMPTS = 3 };

#ifdef MEASURES_HEAP
/* <sanitizer/allocator_interface.h>, which gcc does not have. */
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);

static _Atomic int64_t heap_now, heap_peak;

static void on_malloc(const volatile void *block, size_t size) {
    (void)block;
    int64_t now = atomic_fetch_add(&heap_now, (int64_t)size) + (int64_t)size, peak = atomic_load(&heap_peak);
    while (now > peak && !atomic_compare_exchange_weak(&heap_peak, &peak, now)) {}
}

static void on_free(const volatile void *block) {
    if (block) atomic_fetch_sub(&heap_now, (int64_t)__sanitizer_get_allocated_size(block));
}

static int64_t start_of_heap(void) {
    static bool watching;
    if (!watching && !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free)) abort();
    watching = true;
    int64_t now = atomic_load(&heap_now);
    atomic_store(&heap_peak, now);
    return now;
}

static int64_t peak_of_heap(void) { return atomic_load(&heap_peak); }
#else
static int64_t start_of_heap(void) { return 0; }
static int64_t peak_of_heap(void) { return 0; }
#endif

struct amount {
    uint64_t ns, bytes;
};

static uint64_t processor_time(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)) abort();
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const struct fuzz_budget *budget_of_target(void) {
    for (const struct fuzz_budget *row = fuzz_budgets; row->target; row++)
        if (!strcmp(row->target, FUZZ_TARGET)) return row;
    fprintf(stderr, "budget: fuzz/budget/budget_rows.c has no row for " FUZZ_TARGET "\n");
    abort();
}

static bool has_window(const uint8_t *data, size_t size) {
    static const uint8_t xz[] = { 0xfd, '7', 'z', 'X', 'Z' }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
    return size && (memmem(data, size, xz, sizeof(xz)) || memmem(data, size, zstd, sizeof(zstd)));
}

static struct amount allowed(const uint8_t *data, size_t size) {
    static const struct fuzz_budget *budget;
    if (!budget) budget = budget_of_target();
    uint64_t kib = budget->kib + (budget->window_kib && has_window(data, size) ? budget->window_kib : 0);
    return (struct amount){ FUZZ_TIME_FACTOR * (budget->ms * UINT64_C(1000000) + budget->ns_per_byte * (uint64_t)size),
                            (kib << 10) + budget->bytes_per_byte * (uint64_t)size };
}

static void log_line(size_t size, const struct amount *used, const struct amount *allowed) {
    static FILE *log;
    static const char *path;
    if (!path && !(path = getenv("FUZZ_BUDGET_LOG"))) path = "";
    if (!*path) return;
    if (!log && !(log = fopen(path, "a"))) abort();
    fprintf(log, "%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", size, used->ns, used->bytes, allowed->ns, allowed->bytes);
    fflush(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct amount limit = allowed(data, size), used = { UINT64_MAX, 0 };
    int result = 0;
    for (int i = 0; i < ATTEMPTS && used.ns > limit.ns; i++) {
        int64_t heap = start_of_heap();
        uint64_t begin = processor_time();
        result = fuzz_one_input(data, size);
        uint64_t ns = processor_time() - begin;
        if (ns < used.ns) used.ns = ns;
        used.bytes = (uint64_t)(peak_of_heap() - heap);
        if (used.bytes > limit.bytes) break;
    }
    log_line(size, &used, &limit);
    if (used.ns <= limit.ns && used.bytes <= limit.bytes) return result;
    fprintf(stderr, "budget: an input of %zu bytes is over the budget of " FUZZ_TARGET ": %" PRIu64 " us of processor time of %"
            PRIu64 ", %" PRIu64 " KiB of heap of %" PRIu64 "\n",
            size, used.ns / 1000, limit.ns / 1000, used.bytes >> 10, limit.bytes >> 10);
    abort();
}
