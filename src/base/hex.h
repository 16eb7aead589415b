/* Bytes as hexadecimal digits, and back. */
#ifndef CSNI_HEX_H
#define CSNI_HEX_H

#include "base/core/span.h"

/* The value of a digit of either case; 16 and more: it is none. */
static inline unsigned csni_hex_digit(char c) {
    static const uint8_t value_and_1[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
        ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
        ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    };
    return value_and_1[(uint8_t)c] - 1u;
}

/* A number of 1 to 16 digits and nothing else. */
bool csni_hex_value(struct csn_str digits, uint64_t *out);

/* Digits and a NUL: 2 * size + 1 bytes. */
void csni_hex_text(const uint8_t *bytes, size_t size, char *out);

/* An id for messages: of a long one, the first bytes. */
enum { CSNI_ID_SHOWN = 32 };
struct csni_id_shown {
    char text[2 * CSNI_ID_SHOWN + 1];
};
struct csni_id_shown csni_id_show(const uint8_t *id, size_t size);

#endif
