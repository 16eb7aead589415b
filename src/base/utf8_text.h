/* Strings of Arrow and of protobuf are UTF-8; names and paths of an index are any bytes. */
#ifndef CSNI_UTF8_TEXT_H
#define CSNI_UTF8_TEXT_H

#include <stdbool.h>

#include <callsign/base.h>

enum { CSNI_UTF8_GROWTH = 3 }; /* bytes that one byte becomes at most */

bool csni_is_utf8(struct csn_str text);
/* Copies the text with U+FFFD for each byte that is not part of UTF-8, and returns its length. `out` has
 * CSNI_UTF8_GROWTH * text.len bytes. */
size_t csni_to_utf8(struct csn_str text, char *out);

#endif
