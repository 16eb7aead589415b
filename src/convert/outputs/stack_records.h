/* Breakpad's STACK records, from the unwind tables of an image and its debug file. */
#ifndef CSNI_STACK_RECORDS_H
#define CSNI_STACK_RECORDS_H

#include "base/buffer.h"
#include "model/model.h"

/* Text in pieces, in the order of the output. */
struct csni_stack_records {
    struct csni_buffer *texts;
    size_t count;
};

/* Nothing for an image without unwind tables, or of a machine that readers do not unwind on. Damaged records are counted in
 * `report`. CSN_E_LIMIT: a hostile file, which describes far more than real ones. */
csn_status csni_stack_records_make(const struct csni_model *model, struct csni_pool *pool, struct csni_stack_records *out,
                                   struct csn_convert_report *report, struct csn_error *err);
void csni_stack_records_deinit(struct csni_stack_records *records, const struct csn_allocator *alloc);

#endif
