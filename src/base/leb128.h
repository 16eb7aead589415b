/* Writing LEB128, and its size. Reading is the cursor's. */
#ifndef CSNI_LEB128_H
#define CSNI_LEB128_H

#include <stddef.h>
#include <stdint.h>

enum { CSNI_LEB_MAX = 10 }; /* bytes of the longest 64-bit number */

static inline size_t csni_uleb_size(uint64_t v) {
    size_t n = 1;
    while (v >>= 7) n++;
    return n;
}

static inline size_t csni_sleb_size(int64_t v) {
    size_t n = 1;
    for (; v < -64 || v > 63; v >>= 7) n++;
    return n;
}

/* Both write at `p`, which has room for CSNI_LEB_MAX bytes, and return the byte behind. */
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
