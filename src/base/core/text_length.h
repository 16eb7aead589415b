/* How long a text is that a NUL or the end of its bytes ends: most are short, and a call would take as long as the search. */
#ifndef CSNI_TEXT_LENGTH_H
#define CSNI_TEXT_LENGTH_H

#include <stddef.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline size_t csni_length_of(const char *text, size_t most) {
    size_t at = 0;
#if defined(__SSE2__)
    enum { STEP = 16, SHORT = 6 * STEP };
    for (; at < SHORT && most - at >= STEP; at += STEP) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + at));
        unsigned nuls = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
        if (nuls) return at + (size_t)__builtin_ctz(nuls);
    }
#endif
    const char *nul = memchr(text + at, 0, most - at);
    return nul ? (size_t)(nul - text) : most;
}

#endif
