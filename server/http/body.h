/* Bodies that come compressed. */
#ifndef CALLSIGN_SERVER_BODY_H
#define CALLSIGN_SERVER_BODY_H

#include "base/text.h"

enum body_status { BODY_GOOD, BODY_TOO_LARGE, BODY_DAMAGED, BODY_UNKNOWN_ENCODING, BODY_NO_MEMORY };
/* Replaces *body by what it is without its Content-Encoding (gzip or zstd; NULL: none), of at most `max` bytes. */
enum body_status body_decode(const char *encoding, uint64_t max, struct text *body);

#endif
