/* How large a GSYM file will be, while it is decided which functions go into it. */
#ifndef CSNI_GSYM_WRITE_SIZE_H
#define CSNI_GSYM_WRITE_SIZE_H

#include "formats/gsym/write/gsym_write.h"
#include "formats/gsym/write/gsym_write_record.h"

/* Most bytes of a build id that a version holds. */
size_t csni_gsym_build_id_max(enum csni_gsym_target target);

struct csni_gsym_sizer {
    struct csni_gsym_encoder encoder;
    struct csni_gsym_encoded scratch;
    uint64_t *no_strps;             /* a record's size does not depend on what they are */
    uint64_t front_size;            /* bytes of header and directory */
    uint64_t record_bytes;
    uint64_t first_start, last_start;
    uint32_t functions;
};

/* `model` is finalized and linked. Release with csni_gsym_sizer_deinit(), after a failure too. */
csn_status csni_gsym_sizer_init(struct csni_gsym_sizer *sizer, const struct csni_model *model, enum csni_gsym_target target,
                                struct csn_error *err);
void csni_gsym_sizer_deinit(struct csni_gsym_sizer *sizer);

/* Begins a file without functions. */
void csni_gsym_sizer_reset(struct csni_gsym_sizer *sizer);
/* Adds the next function, in the order of addresses, with those merged into it. Cost: encodes its record. */
csn_status csni_gsym_sizer_add(struct csni_gsym_sizer *sizer, const struct csni_entry *entry, struct csn_error *err);
/* Bytes of the file with the functions so far, without alignment between its tables. `string_bytes`: of the string table, NULs
 * included; `file_count`: with file 0. */
uint64_t csni_gsym_sizer_estimate(const struct csni_gsym_sizer *sizer, uint64_t string_bytes, uint64_t file_count);

#endif
