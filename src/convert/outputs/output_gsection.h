/* The section-embedded GSYM of 2017 as an output: a row of outputs.c. */
#ifndef CSNI_OUTPUT_GSECTION_H
#define CSNI_OUTPUT_GSECTION_H

#include "convert/outputs/outputs.h"

csn_status csni_write_gsection(const struct csni_model *model, const struct csn_convert_options *options,
                               struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                               struct csn_error *err);

#endif
