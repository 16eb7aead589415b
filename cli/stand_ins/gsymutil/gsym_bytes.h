/* Bytes that are read one after the other; `bad` once there are too few, and what is read then is 0. */
#ifndef CALLSIGN_CLI_GSYM_BYTES_H
#define CALLSIGN_CLI_GSYM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gsym_bytes {
    const unsigned char *at, *end;
    bool bad, big_endian;
};

static inline uint64_t gsym_take_number(struct gsym_bytes *b, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < size) b->bad = true;
    for (unsigned i = 0; !b->bad && i < size; i++) value |= (uint64_t)b->at[i] << 8 * (b->big_endian ? size - 1 - i : i);
    if (!b->bad) b->at += size;
    return value;
}

static inline uint64_t gsym_take_leb(struct gsym_bytes *b, bool is_signed) {
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; (byte & 0x80) && !b->bad; shift += 7) {
        byte = gsym_take_number(b, 1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
    }
    if (is_signed && shift < 64 && (byte & 0x40)) value |= ~UINT64_C(0) << shift;
    return value;
}

#endif
