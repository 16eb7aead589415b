/* Writing GSYM version 1 from a finalized and linked model. */
#ifndef CSNI_GSYM_WRITE_H
#define CSNI_GSYM_WRITE_H

#include "base/sink.h"
#include "model/model.h"

/* Writes the whole file to `sink`. Records are encoded by the pool's workers into buffers that are written once. Adds sizes
 * and counts to `report`. CSN_E_NOT_FOUND: no functions. CSN_E_LIMIT names what version 1 cannot hold. */
csn_status csni_gsym_write_v1(const struct csni_model *model, struct csni_pool *pool, const struct csni_sink *sink,
                              struct csn_convert_report *report, struct csn_error *err);

#endif
