/* Encoding one record. */
#ifndef CSNI_GSYM_WRITE_RECORD_H
#define CSNI_GSYM_WRITE_RECORD_H

#include "base/buffer.h"
#include "model/model.h"

/* What the records of one file have in common. */
struct csni_gsym_encoder {
    const struct csni_model *model; /* linked */
    const uint64_t *strps;          /* by string number of the model */
    unsigned strp_size;             /* 4 or 8 */
    bool big;
};

struct csni_gsym_encoded {
    struct csni_buffer records;
    struct csni_buffer ends;   /* scratch: the open lists of inline nodes */
    uint64_t line_bytes, inline_bytes, rows, nodes, sites;
    uint64_t too_long;              /* bytes of a part that its length cannot tell, else 0 */
    uint32_t too_long_type;         /* of that part */
};

/* Appends the record of an entry, merged functions included, without padding. Whether it could be done is in
 * out->records.failed and out->too_long. */
void csni_gsym_encode_record(const struct csni_gsym_encoder *encoder, const struct csni_entry *entry,
                             struct csni_gsym_encoded *out);
void csni_gsym_encoded_free(struct csni_gsym_encoded *out);

#endif
