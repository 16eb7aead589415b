/* Inlined calls of the functions of one unit. */
#ifndef CSNI_UNIT_INLINES_H
#define CSNI_UNIT_INLINES_H

#include "convert/dwarf/unit_job.h"

csn_status csni_unit_open_inlined(struct csni_unit_job *job, const struct csni_die *die);
/* Adds the inlined calls of `function` that lie within [start, end) to the function begun last. */
csn_status csni_unit_add_inlines(struct csni_unit_job *job, struct csni_open_function *function, uint64_t start,
                                 uint64_t end);

#endif
