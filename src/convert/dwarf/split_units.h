/* Split DWARF of an image: finds for each skeleton the unit that it stands for, in a package or in a .dwo file, and
 * converts that in its place.
 *
 * Packages are opened before, by all workers together. A .dwo file is opened by the worker that first needs it and
 * closed when the last unit that names it is done: of thousands only few are open at a time, and what is kept of their
 * names is copied. */
#ifndef CSNI_SPLIT_UNITS_H
#define CSNI_SPLIT_UNITS_H

#include "convert/dwarf/unit_job.h"

struct csni_split_units;

/* After the units of `dwarf`, which is that of `object`, are prepared. *out is NULL where none of them is a skeleton.
 * Damaged packages are noted in the report. */
csn_status csni_split_units_create(struct csni_conversion *c, struct csni_dwarf *dwarf, struct csni_object *object,
                                   struct csni_split_units **out, struct csn_error *err);
void csni_split_units_destroy(struct csni_split_units *split); /* NULL is fine */

/* Skeletons of one id share their split unit, so one thread has to convert them one after the other: the first of them,
 * then the next of each. `index`: of the image's units, CSNI_NO_SKELETON after the last. */
enum { CSNI_NO_SKELETON = UINT32_MAX };
bool csni_split_units_is_first(const struct csni_split_units *split, uint32_t index);
uint32_t csni_split_units_next(const struct csni_split_units *split, uint32_t index);

/* Converts the split unit of a skeleton, or what the skeleton tells where there is none. */
csn_status csni_split_units_convert(struct csni_split_units *split, struct csni_unit_job *job, uint32_t worker,
                                    uint32_t index, struct csni_batch *out, struct csn_error *err);

/* Bytes of .debug_info that stand after skeleton `index`, where that is known: units are ordered by it. */
uint64_t csni_split_units_size(const struct csni_split_units *split, uint32_t index);
/* How many skeletons lost their units to damage. */
uint32_t csni_split_units_failed(const struct csni_split_units *split);

#endif
