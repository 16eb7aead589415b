/* Huffman codes of deflate (RFC 1951, 3.2.2). */
#ifndef CSNI_DEFLATE_CODE_H
#define CSNI_DEFLATE_CODE_H

#include <stdbool.h>
#include <stdint.h>

enum { CSNI_DEFLATE_CODE_BITS = 15, CSNI_DEFLATE_SYMBOLS = 288 };

struct csni_deflate_code {
    uint16_t first[CSNI_DEFLATE_CODE_BITS + 2];  /* [n]: the first of `symbols` with a code of n bits */
    uint16_t symbols[CSNI_DEFLATE_SYMBOLS];      /* by the size of their codes, then by value */
    uint16_t codes[CSNI_DEFLATE_SYMBOLS];        /* of symbols[i]; the bit that is read first is the lowest */
};

/* `sizes`: bits of each symbol's code, at most 15, 0: none. How much room is left for codes, in units of the longest possible one;
 * 0: none, the code is complete; negative: there are too many codes, and `code` is of no use. */
int csni_deflate_code_make(struct csni_deflate_code *code, const uint8_t *sizes, unsigned count);

/* The symbol whose code `bits` begins with, looked for bit by bit. False: there is none. */
bool csni_deflate_code_find(const struct csni_deflate_code *code, uint64_t bits, unsigned *symbol, unsigned *size);

#endif
