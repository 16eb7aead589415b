/* Function names without what demanglers write differently: arguments, template arguments, return types, hashes. */
#ifndef CALLSIGN_CLI_PLAIN_NAME_H
#define CALLSIGN_CLI_PLAIN_NAME_H

#include <callsign/base.h>

/* "orders::parse" of "int orders::parse<int>(char const*)", "orders::parse::h0123456789abcdef" and "orders[1a2b]::parse::<u8>". The type of
 * "<orders::Order as core::fmt::Display>::fmt" stays. Writes at most `cap` bytes; what is longer is cut. Returns the number of bytes. */
size_t plain_name(struct csn_str name, char *out, size_t cap);

#endif
