/* Function names without what demanglers write differently: arguments, template arguments, return types, hashes. */
#ifndef CALLSIGN_CLI_PLAIN_NAME_H
#define CALLSIGN_CLI_PLAIN_NAME_H

#include <callsign/base.h>

/* "orders::parse" of "int orders::parse<int>(char const*)", "orders::parse::h0123456789abcdef" and
 * "orders[1a2b]::parse::<u8>". The type of "<orders::Order as core::fmt::Display>::fmt" stays; so do what is within
 * a function, "orders::parse::'lambda'::operator()", and that a name is that of a stub, "orders::parse@plt". Writes
 * at most `cap` bytes; what is longer is cut. Returns the number of bytes. */
size_t plain_name(struct csn_str name, char *out, size_t cap);

/* ".part.0.isra.1" of "f(int) (.part.0.isra.1)" and of "f(int) [clone .part.0] [clone .isra.1]"; of the function
 * itself, nothing. */
size_t clone_suffix(struct csn_str name, char *out, size_t cap);

#endif
