/* Codes from their sizes. */
#include "inflate/deflate_code.h"

#include <string.h>

/* `code` + 1, seen from its highest bit, which is the lowest here. */
static unsigned next_code(unsigned code, unsigned size) {
    unsigned zeros = ~code & ((1u << size) - 1);
    if (!zeros) return 0;
    unsigned bit = 1u << (31 - __builtin_clz(zeros));
    return (code & (bit - 1)) | bit;
}

static void give_codes(struct csni_deflate_code *c) {
    unsigned code = 0;
    for (unsigned size = 1; size <= CSNI_DEFLATE_CODE_BITS; size++) {
        for (unsigned i = c->first[size]; i < c->first[size + 1]; i++) {
            c->codes[i] = (uint16_t)code;
            code = next_code(code, size);
        }
    }
}

int csni_deflate_code_make(struct csni_deflate_code *c, const uint8_t *sizes, unsigned count) {
    uint16_t counts[CSNI_DEFLATE_CODE_BITS + 1] = { 0 }, next[CSNI_DEFLATE_CODE_BITS + 1];
    for (unsigned i = 0; i < count; i++) counts[sizes[i]]++;
    int left = 1;
    unsigned at = 0;
    for (unsigned size = 1; size <= CSNI_DEFLATE_CODE_BITS; size++) {
        left = 2 * left - counts[size];
        if (left < 0) return left;
        next[size] = c->first[size] = (uint16_t)at;
        at += counts[size];
    }
    c->first[0] = 0;
    c->first[CSNI_DEFLATE_CODE_BITS + 1] = (uint16_t)at;
    for (unsigned i = 0; i < count; i++)
        if (sizes[i]) c->symbols[next[sizes[i]]++] = (uint16_t)i;
    give_codes(c);
    return left;
}

/* Codes of one size are successive numbers, and begin after those of the size before. */
bool csni_deflate_code_find(const struct csni_deflate_code *c, uint64_t bits, unsigned *symbol, unsigned *size) {
    unsigned code = 0, begin = 0;
    for (unsigned n = 1; n <= CSNI_DEFLATE_CODE_BITS; n++) {
        code = code << 1 | (bits & 1);
        bits >>= 1;
        unsigned count = (unsigned)c->first[n + 1] - c->first[n];
        if (code - begin < count) {
            *symbol = c->symbols[c->first[n] + code - begin];
            *size = n;
            return true;
        }
        begin = (begin + count) << 1;
    }
    return false;
}
