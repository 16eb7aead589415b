/* Callsign: from stored names to names for people. */
#ifndef CALLSIGN_SYMBOLICATE_H
#define CALLSIGN_SYMBOLICATE_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Demangles a C++ (Itanium), Rust (v0 and legacy) or D name into `out` (NUL-terminated when cap > 0).
 * *out_len gets the full length without the NUL, even if larger than cap - 1.
 * CSN_OK, CSN_NONE (not a mangled name: `out` may hold parts of an attempt), CSN_E_LIMIT (cap is too small), CSN_E_UNSUPPORTED (built
 * without a demangler). Any thread. May allocate inside the demangling library. Input and output are limited to 1 MiB;
 * hostile names take up to 1 MiB of stack. */
CSN_API csn_status csn_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
