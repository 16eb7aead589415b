/* Converting one unit: the walk over its DIEs. */
#ifndef CSNI_UNIT_WALK_H
#define CSNI_UNIT_WALK_H

#include "convert/dwarf/unit_job.h"

/* Reads a prepared unit into a batch. Damage is noted in the batch; only out of memory fails. */
csn_status csni_unit_convert(struct csni_unit_job *job, const struct csni_unit *unit, struct csni_batch *out,
                             struct csn_error *err);
/* The same, of a split unit, or of a skeleton whose split unit is not there. */
csn_status csni_unit_convert_from(struct csni_unit_job *job, const struct csni_unit_source *source,
                                  struct csni_batch *out, struct csn_error *err);

/* A unit made up for a line table alone: its rows are of no function. */
csn_status csni_unit_convert_lines(struct csni_unit_job *job, const struct csni_unit *unit, struct csni_batch *out,
                                   struct csn_error *err);

#endif
