/* Inlined calls of a function that do not lie within one another, or not within the function: what the straight way of unit_inlines.c
 * does not know. */
#ifndef CSNI_UNIT_INLINE_RANGES_H
#define CSNI_UNIT_INLINE_RANGES_H

#include "convert/dwarf/unit_job.h"

/* Looks at the ranges of call `die`, in `job->ranges` from `first` on, which is in call `parent` (NULL: in the function itself), and
 * notes what no function will have. */
void csni_unit_check_inline_ranges(struct csni_unit_job *job, const struct csni_die *die, const struct csni_inlined *parent,
                                   uint32_t first);

/* Adds the calls that lie in [start, end) to the function begun last. *kept: how many parts they have there. */
csn_status csni_unit_add_any_inlines(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end, size_t *kept);

/* Writes the calls that lie in code which the complete function `f` does not have, as a stray (model.h). */
csn_status csni_unit_add_strays(struct csni_unit_job *job, struct csni_open_function *f);

#endif
