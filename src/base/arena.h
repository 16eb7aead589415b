/* Bump allocation: many small objects, freed in one call. Not thread-safe: one arena, one thread at a time. */
#ifndef CSNI_ARENA_H
#define CSNI_ARENA_H

#include <stdbool.h>

#include "base/core/alloc.h"

struct csni_arena_chunk;
struct csni_arena {
    const struct csn_allocator *alloc;
    struct csni_arena_chunk *chunks; /* the newest first */
    struct csni_arena_chunk *spare;  /* released ones, kept for use again */
    uint8_t *p, *end;                /* free part of the chunk that small objects come from */
    size_t chunk_size;               /* of the next chunk; grows */
    uint64_t total;                  /* bytes in chunks, spare ones included */
    bool read_at_random;             /* may be set: large chunks ask for huge pages */
    CSNI_APART;
};
struct csni_arena_mark {
    struct csni_arena_chunk *chunk;
    uint8_t *p;
};

void csni_arena_init(struct csni_arena *arena, const struct csn_allocator *alloc, size_t first_chunk_size);
void csni_arena_deinit(struct csni_arena *arena); /* empty afterwards, and can be used again */

/* `size` bytes aligned to 8, or NULL. Size 0 gives a valid pointer. */
void *csni_arena_alloc(struct csni_arena *arena, size_t size);
/* A copy of bytes, followed by a NUL that `len` does not count. NULL when out of memory. */
char *csni_arena_copy(struct csni_arena *arena, const void *bytes, size_t len);

/* Everything allocated since the mark is gone after release. The chunks stay with the arena until deinit, so that work
 * item after work item costs no page faults; only objects with a chunk of their own are given back at once. */
struct csni_arena_mark csni_arena_get_mark(const struct csni_arena *arena);
void csni_arena_release(struct csni_arena *arena, struct csni_arena_mark mark);

#endif
