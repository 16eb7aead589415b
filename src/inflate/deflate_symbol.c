/* Symbols of deflate read bit by bit, with every check: the ends of input and output, and codes too long for the table. */
#include "inflate/deflate_private.h"

enum { FIRST_LENGTH = CSNI_DEFLATE_END_OF_BLOCK + 1 };

bool csni_deflate_fail_early(struct csni_deflate *d) { return csni_deflate_fail(d, "it ends early"); }

bool csni_deflate_fail_distance(struct csni_deflate *d) { return csni_deflate_fail(d, "reference to before its begin"); }

/* No code has more than 15 bits: with fewer left, what is not found may be cut off. */
static bool read_code(struct csni_deflate *d, const struct csni_deflate_code *code, unsigned *symbol) {
    unsigned size;
    bool found = csni_deflate_code_find(code, d->bits.buf, symbol, &size);
    if (found && csni_deflate_drop(&d->bits, size)) return true;
    if (d->bits.count < CSNI_DEFLATE_CODE_BITS) return csni_deflate_fail_early(d);
    return csni_deflate_fail(d, "invalid code");
}

static bool read_extra(struct csni_deflate *d, unsigned count, unsigned *value) {
    *value += csni_deflate_peek(&d->bits, count);
    return csni_deflate_drop(&d->bits, count) || csni_deflate_fail_early(d);
}

bool csni_deflate_read_distance(struct csni_deflate *d, size_t *distance) {
    unsigned symbol;
    if (!read_code(d, &d->distances, &symbol)) return false;
    if (symbol >= CSNI_DEFLATE_DISTANCES) return csni_deflate_fail(d, "invalid distance");
    unsigned value = csni_deflate_distance_base[symbol];
    if (!read_extra(d, csni_deflate_distance_extra[symbol], &value)) return false;
    *distance = value;
    return true;
}

bool csni_deflate_read_symbol(struct csni_deflate *d, uint8_t **out, const uint8_t *oldest) {
    unsigned symbol;
    csni_deflate_fill(&d->bits);
    if (!read_code(d, &d->symbols, &symbol)) return false;
    if (symbol < CSNI_DEFLATE_END_OF_BLOCK) *(*out)++ = (uint8_t)symbol;
    if (symbol == CSNI_DEFLATE_END_OF_BLOCK) d->place = CSNI_DEFLATE_AT_BLOCK;
    if (symbol < FIRST_LENGTH) return true;
    symbol -= FIRST_LENGTH;
    if (symbol >= CSNI_DEFLATE_LENGTHS) return csni_deflate_fail(d, "invalid length");
    unsigned size = csni_deflate_length_base[symbol];
    size_t distance;
    if (!read_extra(d, csni_deflate_length_extra[symbol], &size) || !csni_deflate_read_distance(d, &distance)) return false;
    if (distance > (size_t)(*out - oldest)) return csni_deflate_fail_distance(d);
    d->match_size = size;
    d->match_distance = distance;
    return true;
}
