/* What is left to do when all sources are read. */
#ifndef CSNI_FINISH_BATCHES_H
#define CSNI_FINISH_BATCHES_H

#include "convert/conversion.h"

/* When all sources are read: gives folded functions their place, and call sites their flags and patterns, with those of
 * call-site files. Nothing where neither was asked for. */
csn_status csni_finish_batches(struct csni_conversion *c, struct csn_error *err);

#endif
