/* Which bytes of a GSYM file are for what. */
#ifndef CSNI_GSYM_STATS_H
#define CSNI_GSYM_STATS_H

#include "formats/gsym/read/gsym.h"

/* The size of a record and of the payloads of its parts, up to damage, which is returned. */
struct csni_gsym_record_sizes {
    uint64_t all, lines, inlines, merged, call_sites;
};
csn_status csni_gsym_record_sizes(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                  struct csni_gsym_record_sizes *out);

/* Adds every byte of the file to one of part_bytes (by enum csn_part). Needs 8 bytes a function for as long as it runs.
 * Linear but for sorting the records by place. */
csn_status csni_gsym_part_bytes(const struct csni_gsym *gsym, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                struct csn_error *err);

#endif
