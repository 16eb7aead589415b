/* Inlined calls of a function that do not lie within one another, or not within the function: what the straight way
 * of unit_inlines.c does not know. */
#ifndef CSNI_UNIT_INLINE_RANGES_H
#define CSNI_UNIT_INLINE_RANGES_H

#include "base/core/fail.h"
#include "base/core/search.h"
#include "convert/dwarf/unit_job.h"

/* Whether r lies within one of the ranges, which are ascending. */
static inline bool csni_ranges_contain(const struct csni_address_range *ranges, uint32_t count, struct csni_address_range r) {
    if (!count) return false;
    /* The last one that begins at or below r.low, if any does. */
    const struct csni_address_range *at = ranges + csni_upper_bound(ranges + 1, count - 1, low, r.low);
    return at->low <= r.low && r.high <= at->high;
}

/* A range of call `die` that the call around it, or the function, does not have: notes what no function will have of it. */
CSNI_COLD void csni_unit_note_outer_range(struct csni_unit_job *job, const struct csni_die *die, struct csni_address_range r);

/* Adds the calls that lie in [start, end) to the function begun last. *kept: how many parts they have there. */
csn_status csni_unit_add_any_inlines(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start,
                                     uint64_t end, size_t *kept);

/* Writes the calls that lie in code which the complete function `f` does not have, as a stray (model.h). */
csn_status csni_unit_add_strays(struct csni_unit_job *job, struct csni_open_function *f);

#endif
