/* Adler-32, the checksum of zlib streams (RFC 1950, 8.2). */
#ifndef CSNI_ADLER32_H
#define CSNI_ADLER32_H

#include <stddef.h>
#include <stdint.h>

/* Continues `sum`, at first 1. */
uint32_t csni_adler32(uint32_t sum, const uint8_t *bytes, size_t size);

#endif
