/* Rows of the functions of one unit. */
#ifndef CSNI_UNIT_LINES_H
#define CSNI_UNIT_LINES_H

#include "convert/dwarf/unit_job.h"

csn_status csni_unit_read_lines(struct csni_unit_job *job);
/* Adds a row with the place of the declaration to the function begun last. */
csn_status csni_unit_add_declaration(struct csni_unit_job *job, const struct csni_open_function *function);
/* Adds the rows of [start, end) to the function begun last. */
csn_status csni_unit_add_rows(struct csni_unit_job *job, const struct csni_open_function *function, uint64_t start,
                              uint64_t end);

#endif
