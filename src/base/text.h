/* What readers of text formats share: lines, blanks, hexadecimal digits. And ids as such digits. */
#ifndef CSNI_TEXT_H
#define CSNI_TEXT_H

#include "base/core/span.h"

struct csni_lines {
    struct csni_span rest;
    uint64_t number; /* of the line given last, from 1 */
};

/* The next line without its end (LF, or CR LF); false at the end of the file. */
bool csni_lines_next(struct csni_lines *lines, struct csn_str *out);

static inline bool csni_is_blank(char c) { return c == ' ' || c == '\t'; }

/* The value of a digit of either case; 16 and more: it is none. */
static inline unsigned csni_hex_digit(char c) {
    static const uint8_t value_and_1[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
        ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
        ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    };
    return value_and_1[(uint8_t)c] - 1u;
}

/* Bytes as hexadecimal digits, with a NUL behind them: 2 * size + 1 bytes. */
void csni_hex_text(const uint8_t *bytes, size_t size, char *out);

/* An id for messages: of a long one, the first bytes. */
enum { CSNI_ID_SHOWN = 32 };
struct csni_id_shown {
    char text[2 * CSNI_ID_SHOWN + 1];
};
struct csni_id_shown csni_id_show(const uint8_t *id, size_t size);

#endif
