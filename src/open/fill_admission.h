/* Which conversions of a folder run at the same time: as many as there are cores and memory for, in the order of the files. */
#ifndef CSNI_FILL_ADMISSION_H
#define CSNI_FILL_ADMISSION_H

#include <pthread.h>

#include "open/opener.h"

struct csni_admission {
    pthread_mutex_t mutex;  /* guards the rest */
    pthread_cond_t changed;
    size_t next;            /* the file whose turn it is */
    uint32_t cores, free_cores;
    uint64_t max_bytes, held_bytes;
};

/* What one file has been given. */
struct csni_admitted {
    struct csni_admission *by; /* NULL: it has not had its turn */
    uint32_t cores;
    uint64_t bytes;
};

/* `max_memory`: bytes for the process; 0: half of the machine's memory. */
void csni_admission_init(struct csni_admission *admission, uint32_t cores, uint64_t max_memory);
void csni_admission_deinit(struct csni_admission *admission);

/* Whether a conversion is better alone, by all cores: its memory is more than a core's share. */
bool csni_admission_is_large(const struct csni_admission *admission, uint64_t bytes);

/* Waits until all files before number `file` have entered and there are `cores` and `bytes`; more memory than there is at all
 * is given to one that is alone. Each file that is begun enters once, or others would wait for ever. */
void csni_admission_enter(struct csni_admission *admission, size_t file, uint32_t cores, uint64_t bytes, struct csni_admitted *out);
/* Gives the cores back, and memory but for `bytes`. */
void csni_admission_yield(struct csni_admitted *admitted, uint64_t bytes);
/* Gives all back. */
void csni_admission_leave(struct csni_admitted *admitted);

/* About what converting an image takes, in bytes, by the sizes that its headers promise; a debug file elsewhere, on this
 * machine, is counted. 0: no object file. */
uint64_t csni_estimate_memory(const struct csn_opener *opener, const char *path, struct csni_span image);

#endif
