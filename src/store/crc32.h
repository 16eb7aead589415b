/* The CRC-32 of .gnu_debuglink: that of zlib, gzip and Ethernet, polynomial 0x04c11db7 reflected. */
#ifndef CSNI_CRC32_H
#define CSNI_CRC32_H

#include "base/core/span.h"

/* Of a file mapping: its pages leave memory as they are done with. */
uint32_t csni_crc32_mapped(struct csni_span bytes);
/* Continues `crc`, at first 0, by libdeflate where the build has it. */
uint32_t csni_crc32(uint32_t crc, struct csni_span bytes);
/* The same by tables. */
uint32_t csni_crc32_portable(uint32_t crc, struct csni_span bytes);

#endif
