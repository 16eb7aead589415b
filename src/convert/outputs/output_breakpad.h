/* Breakpad's symbol file as output: what the writer of the format does not know of, made from the image's sections. */
#ifndef CSNI_OUTPUT_BREAKPAD_H
#define CSNI_OUTPUT_BREAKPAD_H

#include "base/sink.h"
#include "model/model.h"

/* As csni_output.write. */
csn_status csni_write_breakpad(const struct csni_model *model, const struct csn_convert_options *options, struct csni_pool *pool,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);

#endif
