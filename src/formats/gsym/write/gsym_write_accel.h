/* Writing a GSYM file with a stored accelerator. */
#ifndef CSNI_GSYM_WRITE_ACCEL_H
#define CSNI_GSYM_WRITE_ACCEL_H

#include "formats/gsym/write/gsym_write.h"

struct csni_gsym_additions {
    bool names;         /* the table of csni_gsym_write_with_names() */
    bool remote_layout; /* blocks have what remote readers need */
};

/* As csni_gsym_write(), with an accelerator in the file, and what `additions` says. The file without one is in memory for some
 * time. CSN_E_LIMIT where version 1 has no room for it. */
csn_status csni_gsym_write_accelerated(const struct csni_model *m, enum csni_gsym_target target,
                                       const struct csni_gsym_additions *additions, struct csni_pool *pool,
                                       const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);

#endif
