/* Breakpad's symbol file as output: what the writer of the format does not know of, made from the image's sections. */
#ifndef CSNI_OUTPUT_BREAKPAD_H
#define CSNI_OUTPUT_BREAKPAD_H

#include "base/sink.h"
#include "convert/conversion.h"

/* When DWARF has been read, of which there was some: what needs nothing of the model is begun in the background, in
 * c->stacks. Nothing happens where another format is written. */
csn_status csni_begin_breakpad(struct csni_conversion *c, struct csn_error *err);

/* As csni_output.write. */
csn_status csni_write_breakpad(const struct csni_model *model, const struct csn_convert_options *options, struct csni_pool *pool,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);

#endif
