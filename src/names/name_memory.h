/* Memory for the parts of one name: from a block of the caller's (on its stack), then from libc's allocator, up to a limit. */
#ifndef CSNI_NAME_MEMORY_H
#define CSNI_NAME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csni_name_chunk;
struct csni_name_memory {
    uint8_t *at, *end;
    struct csni_name_chunk *chunks;
    size_t total;  /* bytes in chunks */
    size_t failed; /* the size libc had no memory for; 0: it always had */
};

/* `block` is aligned for pointers. */
void csni_name_memory_init(struct csni_name_memory *memory, void *block, size_t size);
void csni_name_memory_deinit(struct csni_name_memory *memory);

void *csni_name_alloc_slow(struct csni_name_memory *memory, size_t size);

/* `size` bytes aligned to 8, not cleared. NULL: the limit is reached, or libc has no memory (`failed`). */
static inline void *csni_name_alloc(struct csni_name_memory *memory, size_t size) {
    size = (size + 7) & ~(size_t)7;
    if (size > (size_t)(memory->end - memory->at)) return csni_name_alloc_slow(memory, size);
    void *got = memory->at;
    memory->at += size;
    return got;
}

/* A stack of pointers in that memory. */
struct csni_name_stack {
    const void **at;
    uint32_t count, cap;
};

bool csni_name_stack_grow(struct csni_name_memory *memory, struct csni_name_stack *stack);

static inline bool csni_name_push(struct csni_name_memory *memory, struct csni_name_stack *stack, const void *item) {
    if (stack->count == stack->cap && !csni_name_stack_grow(memory, stack)) return false;
    stack->at[stack->count++] = item;
    return true;
}

#endif
