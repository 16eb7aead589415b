/* Arithmetic on untrusted sizes and offsets: false, and *out untouched, on overflow. */
#ifndef CSNI_CHECKED_H
#define CSNI_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool csni_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    if (a > UINT64_MAX - b) return false;
    *out = a + b;
    return true;
}
static inline bool csni_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
    if (b && a > UINT64_MAX / b) return false;
    *out = a * b;
    return true;
}
static inline bool csni_mul_size(size_t a, size_t b, size_t *out) {
    if (b && a > SIZE_MAX / b) return false;
    *out = a * b;
    return true;
}
/* `v` rounded up to a multiple of `align`, a power of two. */
static inline uint64_t csni_align_up(uint64_t v, uint64_t align) { return (v + align - 1) & ~(align - 1); }

#endif
