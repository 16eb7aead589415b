/* Names of Rust's older scheme, for tools that know them only as C++. */
#ifndef CALLSIGN_CLI_LEGACY_RUST_H
#define CALLSIGN_CLI_LEGACY_RUST_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a name ends in a hash of 16 digits, as of Rust's older scheme. A suffix of the compiler's may follow. */
bool is_legacy_rust(const char *name, size_t size);
/* "_ZN4core3fmt17h0123456789abcdefE" as C++ has it: "core::fmt::h0123456789abcdef". *suffix: what follows the name;
 * NULL: nothing may follow. NULL: the name cannot be read. The caller frees it. */
char *legacy_rust_as_cxx(const char *name, size_t size, const char **suffix);

#endif
