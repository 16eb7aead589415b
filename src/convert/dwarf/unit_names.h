/* Names of the functions and inlined calls of one unit. */
#ifndef CSNI_UNIT_NAMES_H
#define CSNI_UNIT_NAMES_H

#include "convert/dwarf/unit_job.h"

void csni_unit_names_begin(struct csni_unit_job *job);
/* The batch string for a function's or inlined call's name; what it says is known after csni_unit_names_resolve(). */
csn_status csni_unit_function_name(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out);
csn_status csni_unit_inlined_name(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out);
/* The batch string for the name of who is called at a call site, known like the others; 0: an indirect call. */
csn_status csni_unit_callee(struct csni_unit_job *job, const struct csni_die *die, uint32_t *out);
/* Looks up all pending names; functions that turn out to have none are dropped, with a note. */
csn_status csni_unit_names_resolve(struct csni_unit_job *job);

#endif
