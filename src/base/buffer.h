/* A buffer that grows while a writer appends to it. */
#ifndef CSNI_BUFFER_H
#define CSNI_BUFFER_H

#include <stdbool.h>
#include <string.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"

/* All zeros but for `alloc` at first. `failed` stays set once memory ran out. */
struct csni_buffer {
    uint8_t *bytes;
    size_t size, capacity;
    const struct csn_allocator *alloc;
    bool failed;
};

CSNI_COLD uint8_t *csni_buffer_grow(struct csni_buffer *b, size_t size);
/* Where `size` more bytes go, for the caller to write and to add to b->size what it wrote; or NULL. */
static inline uint8_t *csni_buffer_reserve(struct csni_buffer *b, size_t size) {
    if (!b->failed && size <= b->capacity - b->size) return b->bytes + b->size;
    return csni_buffer_grow(b, size);
}
/* Inline, so that a text of known length is stored without a call. */
static inline void csni_buffer_put(struct csni_buffer *b, const void *bytes, size_t size) {
    uint8_t *p = size ? csni_buffer_reserve(b, size) : NULL;
    if (!p) return;
    memcpy(p, bytes, size);
    b->size += size;
}
void csni_buffer_deinit(struct csni_buffer *b);

#endif
