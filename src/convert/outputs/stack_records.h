/* Breakpad's STACK records, from the unwind tables of an image and its debug file. */
#ifndef CSNI_STACK_RECORDS_H
#define CSNI_STACK_RECORDS_H

#include "base/buffer.h"
#include "base/thread_pool.h"
#include "model/model.h"

struct csni_stack_records;

/* What the records are of: the image, and its debug file or the image of a debug-only file; both may be NULL.
 * Addresses count from `base`. */
struct csni_stack_image {
    struct csni_object *object, *other;
    uint64_t base;
    const struct csn_allocator *alloc;
};

/* *out NULL: an image without unwind tables, or of a machine that readers do not unwind on. `report` is written to until
 * csni_stack_records_destroy(). */
csn_status csni_stack_records_create(const struct csni_stack_image *image, struct csn_convert_report *report,
                                     struct csni_stack_records **out, struct csn_error *err);
void csni_stack_records_destroy(struct csni_stack_records *records); /* NULL is fine */

/* Lets a thread that has nothing else to do make the first pieces, about 1 MB of text, in the pool's background. Before the records
 * are destroyed, and before the pool gets another background task, comes csni_stack_records_join(). Both: NULL is fine. */
void csni_stack_records_begin(struct csni_stack_records *records, struct csni_pool *pool);
void csni_stack_records_join(struct csni_stack_records *records);

size_t csni_stack_records_count(const struct csni_stack_records *records); /* pieces of text; of NULL: 0 */
/* A csni_breakpad_make_piece; its context is the records. CSN_E_LIMIT: a hostile file, which describes far more than real ones. */
csn_status csni_stack_records_make(void *records, size_t item, struct csni_buffer *text, struct csn_error *err);
/* After all pieces: counts the records that could not be read. */
void csni_stack_records_report(const struct csni_stack_records *records);

#endif
