/* Reading option structs of callers built against an older or a newer header. */
#ifndef CSNI_OPTIONS_H
#define CSNI_OPTIONS_H

#include <stddef.h>

#include <callsign/error.h>

/* Copies `given` (given_size bytes, its own struct_size) over `out` (out_size bytes, holding the defaults). What an older
 * caller does not have keeps its default; bytes that only a newer caller knows must be zero: CSN_E_UNSUPPORTED. */
csn_status csni_options_copy(void *out, size_t out_size, const void *given, size_t given_size, struct csn_error *err);

#endif
