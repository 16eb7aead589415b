/* Breakpad's STACK records, from the unwind tables of an image and its debug file. */
#ifndef CSNI_STACK_RECORDS_H
#define CSNI_STACK_RECORDS_H

#include "base/buffer.h"
#include "model/model.h"

struct csni_stack_records;

/* *out NULL: an image without unwind tables, or of a machine that readers do not unwind on. `report` is written to until
 * csni_stack_records_destroy(). */
csn_status csni_stack_records_create(const struct csni_model *model, struct csn_convert_report *report,
                                     struct csni_stack_records **out, struct csn_error *err);
void csni_stack_records_destroy(struct csni_stack_records *records); /* NULL is fine */

size_t csni_stack_records_count(const struct csni_stack_records *records); /* pieces of text; of NULL: 0 */
/* A csni_breakpad_make_piece; its context is the records. CSN_E_LIMIT: a hostile file, which describes far more than real ones. */
csn_status csni_stack_records_make(void *records, size_t item, struct csni_buffer *text, struct csn_error *err);
/* After all pieces: counts the records that could not be read. */
void csni_stack_records_report(const struct csni_stack_records *records);

#endif
