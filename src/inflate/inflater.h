/* Inflating bit by bit, so that the first bytes can be read before the last ones are there. zlib data by
 * deflate.c, zstd data by libzstd (CSNI_HAVE_ZSTD), which only inflater.c and inflate.c know. */
#ifndef CSNI_INFLATER_H
#define CSNI_INFLATER_H

#include "inflate/inflate.h"

struct csni_inflater;

/* `data`, which stays borrowed, as does `section`, is to become exactly `size` bytes. CSN_NONE: this build has no library that
 * can do that. Ask csni_inflate_check() first. */
csn_status csni_inflater_create(enum csni_compression compression, struct csni_span data, size_t size, const char *section,
                                const struct csn_allocator *alloc, struct csni_inflater **inflater, struct csn_error *err);
/* The next `size` bytes, of which there must be as many. With the last byte, what follows it is checked. One thread at a time. */
csn_status csni_inflater_read(struct csni_inflater *inflater, uint8_t *out, size_t size, struct csn_error *err);
/* How many bytes of `data` were taken in so far. */
size_t csni_inflater_consumed(const struct csni_inflater *inflater);
void csni_inflater_destroy(struct csni_inflater *inflater); /* NULL is fine */

#endif
