/* zlib streams (RFC 1950, 1951), inflated in pieces of any size into any memory. Own code, as no library at hand is as fast with
 * debug information: docs/performance-log.md. */
#ifndef CSNI_DEFLATE_H
#define CSNI_DEFLATE_H

#include "base/core/alloc.h"
#include "base/core/span.h"

struct csni_deflate;

/* `data` stays borrowed; bytes after its stream are not looked at. NULL: out of memory. */
struct csni_deflate *csni_deflate_create(struct csni_span data, const struct csn_allocator *alloc);
/* The next `size` bytes; fewer: the stream ends there, its checksum is right. False: it is damaged, csni_deflate_fault() says how;
 * *given of the bytes before that are there. One thread at a time. */
bool csni_deflate_read(struct csni_deflate *deflate, uint8_t *out, size_t size, size_t *given);
const char *csni_deflate_fault(const struct csni_deflate *deflate);
/* How many bytes of `data` were taken in so far. */
size_t csni_deflate_consumed(const struct csni_deflate *deflate);
void csni_deflate_destroy(struct csni_deflate *deflate); /* NULL is fine */

#endif
