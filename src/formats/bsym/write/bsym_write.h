/* Writing BSYM 1.0 to 2.3 from a finalized and linked model. */
#ifndef CSNI_BSYM_WRITE_H
#define CSNI_BSYM_WRITE_H

#include "base/sink.h"
#include "formats/bsym/bsym_layout.h"
#include "model/model.h"

struct csni_bsym_write_options {
    uint32_t version;       /* enum csni_bsym_version; 0: 2.3 where the model has renames or a checksum, else 2.1 */
    bool own_tokens;        /* choose the table that makes this file small */
    const struct csn_str *tokens; /* else these; at most CSNI_BSYM_TOKEN_MAX */
    uint32_t token_count;
    bool all_prefixes;      /* cut every name at its last `::`, as Symbian's own tool does, not just where that saves bytes */
};

/* Whether it is a version that the writer knows. */
bool csni_bsym_is_written(uint32_t version);

/* The list of Symbian's own tool. */
enum { CSNI_BSYM_REFERENCE_TOKENS = 61 };
extern const char *const csni_bsym_reference_tokens[CSNI_BSYM_REFERENCE_TOKENS];

/* Writes the whole file to `sink`. Adds sizes, counts, and events of what the format cannot hold, to `report`.
 * CSN_E_NOT_FOUND: no functions. CSN_E_LIMIT: addresses beyond 32 bits, a file beyond 4 GiB. */
csn_status csni_bsym_write(const struct csni_model *model, const struct csni_bsym_write_options *options,
                           struct csni_pool *pool, const struct csni_sink *sink, struct csn_convert_report *report,
                           struct csn_error *err);

#endif
