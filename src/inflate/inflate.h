/* Decompression of sections. inflate.c, inflater.c and inflate_xz.c are the only files that know libraries, which are found at
 * configure time: CSNI_HAVE_ZSTD, CSNI_HAVE_LIBLZMA. */
#ifndef CSNI_INFLATE_H
#define CSNI_INFLATE_H

#include "base/core/alloc.h"
#include "base/core/span.h"

enum csni_compression { CSNI_COMPRESSION_NONE, CSNI_COMPRESSION_ZLIB, CSNI_COMPRESSION_ZSTD };

/* Whether `data` can inflate to `size` bytes at all; asked before memory is reserved, so that a small file cannot claim
 * gigabytes. CSN_E_FORMAT if not, CSN_E_UNSUPPORTED if this build lacks the library. */
csn_status csni_inflate_check(enum csni_compression compression, struct csni_span data, uint64_t size, const char *section,
                              struct csn_error *err);

/* Inflates all of `data` into exactly `size` bytes. CSN_E_FORMAT names both sizes where they differ. */
csn_status csni_inflate(enum csni_compression compression, struct csni_span data, uint8_t *out, size_t size,
                        const char *section, const struct csn_allocator *alloc, struct csn_error *err);

/* All of an .xz file, whose size nobody promises: at most `max_size` bytes, in memory of `alloc` that csni_free(alloc, *out,
 * *room) gives back. CSN_E_LIMIT: it inflates to more, or needs more than 256 MiB for its dictionary. */
csn_status csni_inflate_xz(struct csni_span data, uint64_t max_size, const struct csn_allocator *alloc,
                           struct csni_span *out, size_t *capacity, const char *section, struct csn_error *err);

#endif
