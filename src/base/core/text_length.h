/* How long a text is that a NUL or the end of its bytes ends: most are short, and a call would take as long as the search. */
#ifndef CSNI_TEXT_LENGTH_H
#define CSNI_TEXT_LENGTH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__)
/* The NULs among 32 bytes, one bit each: a branch for so many is rarely mispredicted. */
static inline unsigned csni_nuls_of(const char *text) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)text);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(text + 16));
    unsigned nuls = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(low, _mm_setzero_si128()));
    return nuls | (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(high, _mm_setzero_si128())) << 16;
}
#endif

static inline size_t csni_length_of(const char *text, size_t most) {
    size_t at = 0;
#if defined(__SSE2__)
    enum { STEP = 32, SHORT = 5 * STEP };
    if (most >= SHORT) {
        unsigned nuls = csni_nuls_of(text);
        if (nuls) return (size_t)__builtin_ctz(nuls);
        for (at = STEP; at < SHORT; at += 2 * STEP) {
            uint64_t both = csni_nuls_of(text + at) | (uint64_t)csni_nuls_of(text + at + STEP) << 32;
            if (both) return at + (size_t)__builtin_ctzll(both);
        }
    }
#endif
    const char *nul = memchr(text + at, 0, most - at);
    return nul ? (size_t)(nul - text) : most;
}

#endif
