/* Growth of buffers. */
#include "base/buffer.h"

#include "base/core/vec.h"

enum { FIRST_CAPACITY = 16 << 10 };

uint8_t *csni_buffer_grow(struct csni_buffer *b, size_t size) {
    size_t need = b->size + size, capacity = b->capacity < FIRST_CAPACITY / 2 ? FIRST_CAPACITY : 2 * b->capacity;
    if (b->failed || size > SIZE_MAX - b->size ||
        !csni_vec_grow(&b->bytes, &b->capacity, need > capacity ? need : capacity, 1, b->alloc)) {
        b->failed = true;
        return NULL;
    }
    return b->bytes + b->size;
}

void csni_buffer_deinit(struct csni_buffer *b) {
    csni_free(b->alloc, b->bytes, b->capacity);
    b->bytes = NULL;
    b->size = b->capacity = 0;
}
