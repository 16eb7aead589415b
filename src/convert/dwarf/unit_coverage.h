/* What one unit's debug information covers, for csni_coverage_report(). Does nothing unless that is wanted. */
#ifndef CSNI_UNIT_COVERAGE_H
#define CSNI_UNIT_COVERAGE_H

#include "convert/dwarf/unit_job.h"

/* All rows of the line table that was read. */
csn_status csni_unit_cover_lines(struct csni_unit_job *job);
/* Ranges [first, count) of job->ranges, of an inlined call. */
csn_status csni_unit_cover_inlined(struct csni_unit_job *job, uint32_t first);

void csni_unit_coverage_begin(struct csni_unit_job *job);
void csni_unit_coverage_end(struct csni_unit_job *job);

#endif
