/* The formats that a conversion writes. */
#ifndef CSNI_OUTPUTS_H
#define CSNI_OUTPUTS_H

#include "base/sink.h"
#include "model/model.h"

/* One format: a row of the table in outputs.c. */
struct csni_output {
    uint32_t format;  /* enum csn_format */
    const char *name; /* for people: what `--to` takes */
    bool holds_binaries; /* an image of many; for others the model is flattened */
    bool takes_last;     /* see csni_model */
    /* Drains a finalized and linked model into `sink`; adds sizes and counts to `report`. `pool` may be NULL. */
    csn_status (*write)(const struct csni_model *model, const struct csn_convert_options *options, struct csni_pool *pool,
                        const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);
};

/* Counts what the model holds and `format` cannot. */
void csni_report_unrepresentable(const struct csni_model *model, uint32_t format, struct csn_convert_report *report);

/* Whether csn_gsym_options belong to the format. */
bool csni_is_gsym(uint32_t format);

/* Format 0 is the default. NULL: this library does not write it. */
const struct csni_output *csni_output_of(uint32_t format);

#endif
