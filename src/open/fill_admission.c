/* Sharing out cores and memory among the conversions of a folder. */
#define _GNU_SOURCE
#include "open/fill_admission.h"

#include <unistd.h>

enum { PROCESS_BYTES = 8 << 20 }; /* what a process takes that converts nothing */

static uint64_t half_of_memory(void) {
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) return (uint64_t)pages / 2 * (uint64_t)size;
#endif
    return UINT64_MAX;
}

void csni_admission_init(struct csni_admission *admission, uint32_t cores, uint64_t max_memory) {
    uint64_t max = max_memory ? max_memory : half_of_memory();
    *admission = (struct csni_admission){ .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .cores = cores,
                                          .free_cores = cores, .max_bytes = max > PROCESS_BYTES ? max - PROCESS_BYTES : 1 };
}

void csni_admission_deinit(struct csni_admission *admission) {
    pthread_cond_destroy(&admission->changed);
    pthread_mutex_destroy(&admission->mutex);
}

bool csni_admission_is_large(const struct csni_admission *admission, uint64_t bytes) {
    return admission->cores > 1 && bytes > admission->max_bytes / admission->cores;
}

static bool has_memory(const struct csni_admission *admission, uint64_t bytes) {
    if (!bytes || !admission->held_bytes) return true;
    return admission->held_bytes <= admission->max_bytes && bytes <= admission->max_bytes - admission->held_bytes;
}

void csni_admission_enter(struct csni_admission *admission, size_t file, uint32_t cores, uint64_t bytes,
                          struct csni_admitted *out) {
    pthread_mutex_lock(&admission->mutex);
    while (admission->next != file || admission->free_cores < cores || !has_memory(admission, bytes))
        pthread_cond_wait(&admission->changed, &admission->mutex);
    admission->next++;
    admission->free_cores -= cores;
    admission->held_bytes += bytes;
    *out = (struct csni_admitted){ admission, cores, bytes };
    pthread_cond_broadcast(&admission->changed);
    pthread_mutex_unlock(&admission->mutex);
}

void csni_admission_yield(struct csni_admitted *admitted, uint64_t bytes) {
    struct csni_admission *admission = admitted->by;
    uint64_t left = bytes < admitted->bytes ? bytes : admitted->bytes;
    pthread_mutex_lock(&admission->mutex);
    admission->free_cores += admitted->cores;
    admission->held_bytes -= admitted->bytes - left;
    admitted->cores = 0;
    admitted->bytes = left;
    pthread_cond_broadcast(&admission->changed);
    pthread_mutex_unlock(&admission->mutex);
}

void csni_admission_leave(struct csni_admitted *admitted) { csni_admission_yield(admitted, 0); }
