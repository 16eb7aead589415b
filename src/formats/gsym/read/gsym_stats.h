/* Which bytes of a GSYM file are for what. */
#ifndef CSNI_GSYM_STATS_H
#define CSNI_GSYM_STATS_H

#include <callsign/inspect.h>

#include "base/core/byte_sweep.h"
#include "formats/gsym/read/gsym.h"

/* The size of a record and of the payloads of its parts, up to damage, which is returned. */
struct csni_gsym_record_sizes {
    uint64_t all, lines, inlines, merged, call_sites;
};
csn_status csni_gsym_record_sizes(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                  struct csni_gsym_record_sizes *out);

/* What the bytes of a part of that type are for. */
enum csn_part csni_gsym_stats_part(uint32_t type);

/* A file, or a section of 2017 (src/formats/gsection), whose parts are stepped over in another way. */
struct csni_gsym_stats_source {
    const struct csni_gsym *gsym;
    const struct csni_byte_region *regions; /* by place */
    unsigned region_count;
    csn_status (*next)(const void *context, const struct csni_gsym_record *record, uint64_t *pos, struct csni_gsym_payload *out);
    const void *context;
    unsigned end_mark;                      /* bytes that end a list of parts */
};
/* As csni_gsym_part_bytes(). */
csn_status csni_gsym_stats_sweep(const struct csni_gsym_stats_source *source, const struct csn_allocator *allocator,
                                 uint64_t *part_bytes, struct csn_error *err);

/* Adds every byte of the file to one of part_bytes (by enum csn_part). Needs 8 bytes a function for as long as it runs.
 * Linear but for sorting the records by place. */
csn_status csni_gsym_part_bytes(const struct csni_gsym *gsym, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                struct csn_error *err);

#endif
