/* Sources: each fills batches of the model. */
#ifndef CSNI_SOURCE_H
#define CSNI_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "dwarf/dwarf.h"
#include "model/model.h"
#include "object/object.h"

/* One conversion on its way. */
struct csni_conversion {
    const struct csn_allocator *alloc;
    struct csn_convert_options options;
    struct csn_convert_report *report;
    struct csni_object *object;
    struct csni_pool *pool;
    uint32_t workers;
    struct csni_arena *arenas;        /* one per worker */
    struct csni_batch_writer *writers; /* one per worker */
    struct csni_text_range *text;     /* executable ranges of the image, ascending, joined */
    uint32_t text_count, text_room;
    struct csni_batch *batches;
    uint32_t batch_count, batch_room;
    pthread_mutex_t progress_lock;
    uint64_t progress_done, progress_total;
    /* What units make of a byte of input is bounded: many functions can name one long list of ranges, one long run of rows,
     * one long directory. Counted in ranges, rows, parts of inlined calls, and bytes of names and paths. */
    uint64_t effort_max;
    atomic_uint_least64_t effort;
};

/* Whether `addr` is in executable memory, or the image tells nothing about that. */
bool csni_in_text(const struct csni_conversion *c, uint64_t addr);

/* Tells the caller's progress callback that `amount` more is done. CSN_E_CANCELLED when it asks to stop. */
csn_status csni_progress(struct csni_conversion *c, const char *phase, uint64_t amount, struct csn_error *err);

/* Room for `count` more batches at the end of c->batches; NULL when out of memory. They are zeroed. */
struct csni_batch *csni_add_batches(struct csni_conversion *c, uint32_t count);

/* Functions from DWARF: one batch per unit. The strings of batches are views into sections of c->object. */
csn_status csni_source_dwarf(struct csni_conversion *c, struct csn_error *err);
/* Functions from the symbol table: one batch. */
csn_status csni_source_symbols(struct csni_conversion *c, struct csn_error *err);

#endif
