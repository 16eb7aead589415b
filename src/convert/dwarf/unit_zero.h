/* Functions and line sequences of one unit at address 0: which are code, and which the linker removed. See zero_code.h. */
#ifndef CSNI_UNIT_ZERO_H
#define CSNI_UNIT_ZERO_H

#include "convert/dwarf/unit_job.h"

/* Of a function's ranges in job->ranges from `first` on, moves those at 0 that were removed to where other linkers
 * leave them: to the highest address. */
csn_status csni_unit_mark_removed(struct csni_unit_job *job, const struct csni_die *die, uint32_t first);
/* Drops sequences at 0 of functions that were removed from job->lines, which was read. */
csn_status csni_unit_drop_removed_lines(struct csni_unit_job *job);

#endif
