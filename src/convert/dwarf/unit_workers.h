/* What each worker has to convert units with, whoever hands these out (unit_loop.h, unit_stream.h). */
#ifndef CSNI_UNIT_WORKERS_H
#define CSNI_UNIT_WORKERS_H

#include "convert/dwarf/unit_job.h"

struct csni_unit_workers {
    struct csni_conversion *conversion;
    struct csni_unit_job *jobs;      /* one per worker */
};
/* `map`: see struct csni_dwarf_input. */
csn_status csni_unit_workers_init(struct csni_unit_workers *workers, struct csni_conversion *c,
                                  const struct csni_address_map *map, struct csn_error *err);
void csni_unit_workers_deinit(struct csni_unit_workers *workers); /* all zeros are fine */

/* Converts one unit of `dwarf`, to which the worker is bound (csni_unit_job_rebind()) and whose units have been
 * prepared as far as they can be. One that is not prepared cannot be read: its batch says so, and the caller counts it. */
csn_status csni_unit_workers_convert(struct csni_unit_workers *workers, uint32_t worker, struct csni_dwarf *dwarf,
                                     struct csni_unit *unit, struct csni_batch *out, struct csn_error *err);

/* Counts units and what came of them in the report. `damage` of the list of units; code 0: none. */
void csni_report_units(struct csni_conversion *c, const struct csni_batch *batches, uint32_t count,
                       const struct csn_error *damage);
/* The same in two steps. */
uint32_t csni_count_from_dwarf(const struct csni_batch *batch);
void csni_report_counted_units(struct csni_conversion *c, uint32_t count, uint64_t functions, const struct csn_error *damage);

#endif
