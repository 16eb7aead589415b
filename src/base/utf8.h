/* UTF-8: RFC 3629, no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef CSNI_UTF8_H
#define CSNI_UTF8_H

#include <stddef.h>

/* Bytes of the code point at `at`, of which `left` > 0 bytes can be read; 0: there is none. */
static inline size_t csni_utf8_size(const unsigned char *at, size_t left) {
    unsigned char first = at[0];
    if (first < 0x80) return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return size;
}

#endif
