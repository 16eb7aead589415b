/* Checking a stored accelerator against the records. */
#ifndef CSNI_GSYM_ACCEL_VERIFY_H
#define CSNI_GSYM_ACCEL_VERIFY_H

#include "formats/gsym/read/gsym.h"

/* Makes the accelerator again and compares: a problem where it is not equal, or where what is stored is damaged so that it is not
 * found. CSN_OK with *out_equal, the problem in *problem; CSN_E_MEMORY in *err. */
csn_status csni_gsym_accel_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                  struct csn_error *problem, struct csn_error *err);

#endif
