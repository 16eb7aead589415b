/* Rust names, without hashes. */
#ifndef CSNI_RUST_H
#define CSNI_RUST_H

#include "names/name_text.h"

/* The scheme of RFC 2603 ("_RNvC...") and, until 2025, the default one ("_ZN4core3fmt17h0123456789abcdefE"), which looks like
 * C++. False: it cannot be read, or a limit was reached; `out` then holds parts of an attempt. */
bool csni_rust_demangle(struct csn_str name, struct csni_name_text *out);
bool csni_rust_demangle_legacy(struct csn_str name, struct csni_name_text *out);

#endif
