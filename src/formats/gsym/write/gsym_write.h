/* Writing GSYM, version 1 or 2, from a finalized and linked model. */
#ifndef CSNI_GSYM_WRITE_H
#define CSNI_GSYM_WRITE_H

#include "base/sink.h"
#include "model/model.h"

enum csni_gsym_target {
    CSNI_GSYM_WRITE_ANY = 0, /* version 1, or version 2 where that cannot hold the model */
    CSNI_GSYM_WRITE_V1 = 1,
    CSNI_GSYM_WRITE_V2 = 2,
    CSNI_GSYM_WRITE_PLAIN = 4 /* or'ed to one of these: without checkpoints */
};

/* Writes the whole file to `sink`. Records are encoded by the pool's workers into buffers that are written once. Adds sizes
 * and counts to `report`. CSN_E_NOT_FOUND: no functions. CSN_E_LIMIT names what the version cannot hold. */
csn_status csni_gsym_write(const struct csni_model *model, enum csni_gsym_target target, struct csni_pool *pool,
                           const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);

#endif
