/* Structs of callers that were built against an older or a newer header. */
#ifndef CSNI_SIZED_H
#define CSNI_SIZED_H

#include <stddef.h>

#include <callsign/error.h>

/* Copies the options `given` (given_size bytes, its own struct_size) over `out` (out_size bytes, holding the defaults). What an
 * older caller does not have keeps its default; bytes that only a newer caller knows must be zero: CSN_E_UNSUPPORTED. */
csn_status csni_options_copy(void *out, size_t out_size, const void *given, size_t given_size, struct csn_error *err);

/* Copies the result `own` (own_size bytes) to the caller's `out` (out_size bytes): what fits; what this version does not have
 * becomes 0. */
void csni_result_copy(void *out, size_t out_size, const void *own, size_t own_size);

#endif
