/* Writing LEB128, and its size. Reading is the cursor's. */
#ifndef CSNI_LEB128_H
#define CSNI_LEB128_H

#include <stddef.h>
#include <stdint.h>

enum { CSNI_LEB_MAX = 10 }; /* bytes of the longest 64-bit number */

static inline size_t csni_uleb_size(uint64_t v) { return (70 - (size_t)__builtin_clzll(v | 1)) / 7; }

/* One bit more than the magnitude needs, for the sign. */
static inline size_t csni_sleb_size(int64_t v) { return (71 - (size_t)__builtin_clzll((uint64_t)(v ^ (v >> 63)) | 1)) / 7; }

/* Both write at `p`, which has CSNI_LEB_MAX bytes, and return the byte after the last. */
static inline uint8_t *csni_put_uleb(uint8_t *p, uint64_t v) {
    for (; v > 0x7f; v >>= 7) *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static inline uint8_t *csni_put_sleb(uint8_t *p, int64_t v) {
    for (; v < -64 || v > 63; v >>= 7) *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)(v & 0x7f);
    return p;
}

#endif
