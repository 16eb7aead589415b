/* Memory for the parts of one name, and text put piece by piece. */
#include "names/name_memory.h"

#include <string.h>

#include "base/core/alloc.h"
#include "names/name_text.h"

enum { CHUNK_MIN = 1 << 15, MEMORY_MAX = 1 << 26 };

struct csni_name_chunk {
    struct csni_name_chunk *next;
    size_t size;
};

void csni_name_memory_init(struct csni_name_memory *memory, void *block, size_t size) {
    *memory = (struct csni_name_memory){ .at = block, .end = (uint8_t *)block + size };
}

void csni_name_memory_deinit(struct csni_name_memory *memory) {
    while (memory->chunks) {
        struct csni_name_chunk *chunk = memory->chunks;
        memory->chunks = chunk->next;
        csni_free(&csni_libc_allocator, chunk, chunk->size);
    }
}

/* Chunks double, so that their count stays small. */
void *csni_name_alloc_slow(struct csni_name_memory *memory, size_t size) {
    size_t chunk_size = memory->total > CHUNK_MIN ? memory->total : CHUNK_MIN;
    if (size > MEMORY_MAX) return NULL;
    if (chunk_size < size + sizeof(struct csni_name_chunk)) chunk_size = size + sizeof(struct csni_name_chunk);
    if (chunk_size > MEMORY_MAX - memory->total) return NULL;
    struct csni_name_chunk *chunk = csni_alloc(&csni_libc_allocator, chunk_size);
    if (!chunk) {
        memory->failed = chunk_size;
        return NULL;
    }
    *chunk = (struct csni_name_chunk){ memory->chunks, chunk_size };
    memory->chunks = chunk;
    memory->total += chunk_size;
    memory->at = (uint8_t *)(chunk + 1);
    memory->end = (uint8_t *)chunk + chunk_size;
    void *got = memory->at;
    memory->at += size;
    return got;
}

bool csni_name_stack_grow(struct csni_name_memory *memory, struct csni_name_stack *stack) {
    uint32_t cap = stack->cap ? 2 * stack->cap : 16;
    const void **at = csni_name_alloc(memory, cap * sizeof(*at));
    if (!at) return false;
    if (stack->count) memcpy(at, stack->at, stack->count * sizeof(*at));
    stack->at = at;
    stack->cap = cap;
    return true;
}

void csni_name_put_number(struct csni_name_text *text, uint64_t value) {
    char digits[20];
    size_t at = sizeof(digits);
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    csni_name_put(text, digits + at, sizeof(digits) - at);
}

void csni_name_put_utf8(struct csni_name_text *text, uint32_t code) {
    char bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = size; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[size] | code);
    csni_name_put(text, bytes, size);
}
