/* Structs of callers that were built against an older or a newer header. */
#ifndef CSNI_SIZED_H
#define CSNI_SIZED_H

#include <stddef.h>
#include <stdint.h>

#include <callsign/error.h>

/* Copies the options `given` (given_size bytes, its own struct_size) over `out` (out_size bytes, holding the defaults). What an
 * older caller does not have keeps its default; bytes that only a newer caller knows must be zero: CSN_E_UNSUPPORTED. */
csn_status csni_options_copy(void *out, size_t out_size, const void *given, size_t given_size, struct csn_error *err);

/* CSN_E_UNSUPPORTED unless `value` is 0: of a field, which is named "STRUCT.FIELD", that this version does not know. */
csn_status csni_check_reserved(const char *field, uint64_t value, struct csn_error *err);
/* CSN_E_UNSUPPORTED if `flags` has bits that are not in `known`. */
csn_status csni_check_flags(const char *field, uint32_t flags, uint32_t known, struct csn_error *err);

/* Copies the result `own` (own_size bytes) to the caller's `out` (out_size bytes): what fits; what this version does not have
 * becomes 0. */
void csni_result_copy(void *out, size_t out_size, const void *own, size_t own_size);

#endif
