/* All memory comes through a csn_allocator; alloc.c is the only file that names malloc. */
#ifndef CSNI_ALLOC_H
#define CSNI_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

/* What one thread writes again and again is this far from what others use, or each write takes the cache line away from them:
 * structures that stand in an array, one for each worker, end with CSNI_APART. Pairs of lines come into a cache together. */
enum { CSNI_CACHE_LINES = 128 };
#define CSNI_APART char apart[CSNI_CACHE_LINES]

/* malloc, realloc and free of libc. */
extern const struct csn_allocator csni_libc_allocator;

static inline const struct csn_allocator *csni_allocator_or_default(const struct csn_allocator *a) {
    return a ? a : &csni_libc_allocator;
}

/* `a` NULL: libc's. Size 0 gives NULL from csni_alloc and csni_alloc_zeroed, and from csni_realloc, which then frees.
 * All may return NULL; after a csni_realloc that failed the old block is still there. csni_free accepts NULL. */
void *csni_alloc(const struct csn_allocator *a, size_t size);
void *csni_alloc_zeroed(const struct csn_allocator *a, size_t count, size_t size); /* checked product */
/* The same for what will be written here and there, and nearly everywhere: the pages of large memory are made
 * present at once. A page that is read before it is written takes two faults, and the second one interrupts every
 * other thread. */
void *csni_alloc_present(const struct csn_allocator *a, size_t count, size_t size);
void *csni_realloc(const struct csn_allocator *a, void *ptr, size_t old_size, size_t new_size);
void csni_free(const struct csn_allocator *a, void *ptr, size_t size);

#endif
