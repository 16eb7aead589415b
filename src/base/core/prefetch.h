/* Asking the memory early for what will be read. The address need not be there: a prefetch does no harm. */
#ifndef CSNI_PREFETCH_H
#define CSNI_PREFETCH_H

#include <stddef.h>

static inline void csni_prefetch(const void *p) {
#if defined(__GNUC__)
    __builtin_prefetch(p);
#else
    (void)p;
#endif
}

/* The cache lines of `size` bytes. */
static inline void csni_prefetch_lines(const void *p, size_t size) {
    enum { LINE = 64 };
    for (size_t at = 0; at < size; at += LINE) csni_prefetch((const char *)p + at);
}

#endif
