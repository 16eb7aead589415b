/* Rows of one unit that none of its functions has. */
#ifndef CSNI_UNIT_UNCLAIMED_H
#define CSNI_UNIT_UNCLAIMED_H

#include "convert/dwarf/unit_job.h"

/* When all functions of the unit are in the batch. Reads the line table of a unit that has none. */
csn_status csni_unit_add_unclaimed(struct csni_unit_job *job);

#endif
