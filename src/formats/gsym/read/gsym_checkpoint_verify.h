/* Checking the checkpoints of a file against its records. */
#ifndef CSNI_GSYM_CHECKPOINT_VERIFY_H
#define CSNI_GSYM_CHECKPOINT_VERIFY_H

#include "formats/gsym/read/gsym.h"

/* Makes them again and compares: a problem where they are not equal, or cannot be used. CSN_OK with *out_equal, the problem in
 * *problem; CSN_E_MEMORY in *err. */
csn_status csni_gsym_checkpoint_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                       struct csn_error *problem, struct csn_error *err);

#endif
