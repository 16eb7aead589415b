/* Looking up ascending addresses: what one finds in a record, the next one of the same function need not find again. */
#ifndef CSNI_GSYM_WALK_H
#define CSNI_GSYM_WALK_H

#include "formats/gsym/read/gsym_line_scan.h"

/* Where the last lookup ended. All zero: nowhere. */
struct csni_gsym_walk {
    size_t upper;           /* functions at or below the record's start; 0: nowhere */
    uint64_t addr;           /* the last one asked for */
    struct csni_gsym_record record;
    uint32_t idx;            /* of the record */
    struct csni_gsym_payload lines, inlines; /* bytes.ptr is NULL where there is none */
    struct csni_line_scan scan; /* where there are lines */
};

/* As csni_gsym_lookup_at(), for any address: it goes on where that is in the same record and not below the last one. */
csn_status csni_gsym_walk_to(const struct csni_gsym *gsym, struct csni_gsym_walk *walk, size_t upper, uint64_t addr,
                             enum csn_lookup_mode mode, struct csni_gsym_answer *out, struct csn_error *err);

#endif
