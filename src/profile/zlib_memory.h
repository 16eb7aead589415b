/* zlib with the memory of a csn_allocator. */
#ifndef CSNI_ZLIB_MEMORY_H
#define CSNI_ZLIB_MEMORY_H

#ifdef CSNI_HAVE_ZLIB
#include <string.h>
#include <zlib.h>

#include "base/core/alloc.h"

/* zlib does not tell the size when it frees: it stands before the block. */
enum { CSNI_ZLIB_HEAD = 16 };

static inline void *csni_zlib_alloc(void *context, unsigned count, unsigned size) {
    const size_t all = (size_t)count * size + CSNI_ZLIB_HEAD;
    uint8_t *block = (uint8_t *)csni_alloc((const struct csn_allocator *)context, all);
    if (!block) return NULL;
    memcpy(block, &all, sizeof all);
    return block + CSNI_ZLIB_HEAD;
}

static inline void csni_zlib_free(void *context, void *ptr) {
    size_t all;
    if (!ptr) return;
    uint8_t *block = (uint8_t *)ptr - CSNI_ZLIB_HEAD;
    memcpy(&all, block, sizeof all);
    csni_free((const struct csn_allocator *)context, block, all);
}

static inline void csni_zlib_memory(z_stream *stream, const struct csn_allocator *alloc) {
    union { const struct csn_allocator *in; void *out; } context = { alloc }; /* zlib's context is not const */
    stream->zalloc = csni_zlib_alloc;
    stream->zfree = csni_zlib_free;
    stream->opaque = context.out;
}
#endif

#endif
