/* The default allocator, and the calls that everything else gets its memory through. */
#include "base/core/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/checked.h"
#include "base/core/file_map.h"

static void *libc_alloc(void *context, size_t size) {
    (void)context;
    return malloc(size);
}

static void *libc_realloc(void *context, void *ptr, size_t old_size, size_t new_size) {
    (void)context;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void libc_free(void *context, void *ptr, size_t size) {
    (void)context;
    (void)size;
    free(ptr);
}

const struct csn_allocator csni_libc_allocator = { libc_alloc, libc_realloc, libc_free, NULL };

void *csni_alloc(const struct csn_allocator *a, size_t size) {
    if (!size) return NULL;
    a = csni_allocator_or_default(a);
    return a->alloc(a->context, size);
}

void *csni_alloc_zeroed(const struct csn_allocator *a, size_t count, size_t size) {
    size_t bytes;
    if (!csni_mul_size(count, size, &bytes) || !bytes) return NULL;
    a = csni_allocator_or_default(a);
    /* Large blocks come from the kernel as zeros already: calloc knows and touches no page. */
    if (a->alloc == libc_alloc) return calloc(1, bytes);
    void *ptr = a->alloc(a->context, bytes);
    if (ptr) memset(ptr, 0, bytes);
    return ptr;
}

void *csni_alloc_present(const struct csn_allocator *a, size_t count, size_t size) {
    enum { LARGE = 1 << 16 };
    void *ptr = csni_alloc_zeroed(a, count, size);
    if (ptr && count * size >= LARGE) csni_pages_populate(ptr, count * size);
    return ptr;
}

void *csni_realloc(const struct csn_allocator *a, void *ptr, size_t old_size, size_t new_size) {
    if (!ptr) return csni_alloc(a, new_size);
    a = csni_allocator_or_default(a);
    if (!new_size) {
        a->free(a->context, ptr, old_size);
        return NULL;
    }
    return a->realloc(a->context, ptr, old_size, new_size);
}

void csni_free(const struct csn_allocator *a, void *ptr, size_t size) {
    if (!ptr) return;
    a = csni_allocator_or_default(a);
    a->free(a->context, ptr, size);
}

void csn_bytes_free(struct csn_bytes *bytes) {
    if (!bytes || !bytes->ptr) return;
    csni_free(csni_allocator_or_default(bytes->allocator), bytes->ptr, bytes->size);
    bytes->ptr = NULL;
    bytes->size = 0;
}
