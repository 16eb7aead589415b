/* Fixed-width integers in either byte order, at any alignment. */
#ifndef CSNI_ENDIAN_H
#define CSNI_ENDIAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { CSNI_HOST_BIG = 1 };
#else
enum { CSNI_HOST_BIG = 0 };
#endif

static inline uint16_t csni_swap16(uint16_t v) { return __builtin_bswap16(v); }
static inline uint32_t csni_swap32(uint32_t v) { return __builtin_bswap32(v); }
static inline uint64_t csni_swap64(uint64_t v) { return __builtin_bswap64(v); }

static inline uint16_t csni_get16(const void *p, bool big) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return big == CSNI_HOST_BIG ? v : csni_swap16(v);
}
static inline uint32_t csni_get32(const void *p, bool big) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big == CSNI_HOST_BIG ? v : csni_swap32(v);
}
static inline uint64_t csni_get64(const void *p, bool big) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big == CSNI_HOST_BIG ? v : csni_swap64(v);
}
/* An unsigned integer of 1 to 8 bytes. */
static inline uint64_t csni_get_sized(const void *p, unsigned size, bool big) {
    const uint8_t *b = p;
    switch (size) {
    case 1: return b[0];
    case 2: return csni_get16(p, big);
    case 4: return csni_get32(p, big);
    case 8: return csni_get64(p, big);
    default: break;
    }
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++) v |= (uint64_t)b[big ? size - 1 - i : i] << (8 * i);
    return v;
}

static inline void csni_put16(void *p, uint16_t v, bool big) {
    if (big != CSNI_HOST_BIG) v = csni_swap16(v);
    memcpy(p, &v, sizeof v);
}
static inline void csni_put32(void *p, uint32_t v, bool big) {
    if (big != CSNI_HOST_BIG) v = csni_swap32(v);
    memcpy(p, &v, sizeof v);
}
static inline void csni_put64(void *p, uint64_t v, bool big) {
    if (big != CSNI_HOST_BIG) v = csni_swap64(v);
    memcpy(p, &v, sizeof v);
}
static inline void csni_put_sized(void *p, uint64_t v, unsigned size, bool big) {
    uint8_t *b = p;
    for (unsigned i = 0; i < size; i++) b[big ? size - 1 - i : i] = (uint8_t)(v >> (8 * i));
}

#endif
