/* Bytes of an index that have not arrived yet. */
#ifndef CALLSIGN_WEB_MISSING_BYTES_H
#define CALLSIGN_WEB_MISSING_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum { MISSING_PAGE = 4096 };

/* From here on, loads from these bytes are checked against `present`, a byte for each page. `size` 0: none are checked. */
void missing_bytes_watch(const void *bytes, uint32_t size, const uint8_t *present);

#endif
