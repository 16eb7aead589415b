/* Headers of deflate's blocks (RFC 1951, 3.2.3 to 3.2.7). What is refused is what zlib refuses. */
#include "inflate/deflate_private.h"

enum {
    MAX_LENGTH_CODES = 286, MAX_DISTANCE_CODES = 30, FIXED_DISTANCE_CODES = 32, SIZE_CODES = 19, SIZE_CODE_BITS = 7,
    REPEAT_LAST = 16, REPEAT_ZERO = 17, REPEAT_ZERO_LONG = 18,
};

static bool take_header_bits(struct csni_deflate *d, unsigned count, uint32_t *out) {
    csni_deflate_fill(&d->bits);
    *out = csni_deflate_peek(&d->bits, count);
    return csni_deflate_drop(&d->bits, count) || csni_deflate_fail_early(d);
}

/* Whole bytes that were read ahead go back first. */
static bool read_header_stored(struct csni_deflate *d) {
    struct csni_deflate_bits *b = &d->bits;
    b->in -= b->count / 8;
    b->buf = b->count = 0;
    if (b->end - b->in < 4) return csni_deflate_fail_early(d);
    uint16_t size = csni_get16(b->in, false), check = csni_get16(b->in + 2, false);
    if ((size ^ check) != UINT16_MAX) return csni_deflate_fail(d, "invalid stored block");
    b->in += 4;
    d->stored_left = size;
    d->place = CSNI_DEFLATE_IN_STORED;
    return true;
}

static bool make_codes(struct csni_deflate *d, const uint8_t *sizes, unsigned lengths, unsigned distances) {
    int left = csni_deflate_code_make(&d->symbols, sizes, lengths);
    bool single = d->symbols.first[2] == d->symbols.first[CSNI_DEFLATE_CODE_BITS + 1];
    if (left < 0 || (left > 0 && !single)) return csni_deflate_fail(d, "invalid code of literals and lengths");
    left = csni_deflate_code_make(&d->distances, sizes + lengths, distances);
    single = d->distances.first[2] == d->distances.first[CSNI_DEFLATE_CODE_BITS + 1];
    if (left < 0 || (left > 0 && !single)) return csni_deflate_fail(d, "invalid code of distances");
    csni_deflate_table_make(&d->table, &d->symbols, &d->distances);
    d->place = CSNI_DEFLATE_IN_CODED;
    return true;
}

/* A block of it may be two bytes long, so its table is not made for each. */
static bool read_fixed(struct csni_deflate *d) {
    d->place = CSNI_DEFLATE_IN_CODED;
    if (d->has_fixed_code) return true;
    d->has_fixed_code = true;
    uint8_t sizes[CSNI_DEFLATE_SYMBOLS + FIXED_DISTANCE_CODES];
    for (unsigned i = 0; i < CSNI_DEFLATE_SYMBOLS; i++) sizes[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(sizes + CSNI_DEFLATE_SYMBOLS, 5, FIXED_DISTANCE_CODES);
    return make_codes(d, sizes, CSNI_DEFLATE_SYMBOLS, FIXED_DISTANCE_CODES);
}

/* The code of code sizes as a table of what the next 7 bits mean: symbol << 8 | bits. */
static bool read_size_code(struct csni_deflate *d, unsigned count, uint16_t table[1 << SIZE_CODE_BITS]) {
    static const uint8_t order[SIZE_CODES] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    uint8_t sizes[SIZE_CODES] = { 0 };
    struct csni_deflate_code code;
    for (unsigned i = 0; i < count; i++) {
        uint32_t size;
        if (!take_header_bits(d, 3, &size)) return false;
        sizes[order[i]] = (uint8_t)size;
    }
    if (csni_deflate_code_make(&code, sizes, SIZE_CODES) != 0) return csni_deflate_fail(d, "invalid code of code sizes");
    for (unsigned size = 1; size <= SIZE_CODE_BITS; size++)
        for (unsigned i = code.first[size]; i < code.first[size + 1]; i++)
            for (unsigned at = code.codes[i]; at < 1 << SIZE_CODE_BITS; at += 1u << size)
                table[at] = (uint16_t)((unsigned)code.symbols[i] << 8 | size);
    return true;
}

/* How often a size comes; `extra` bits say so. */
static unsigned read_repeat(struct csni_deflate_bits *b, unsigned symbol, unsigned *extra) {
    *extra = symbol == REPEAT_LAST ? 2 : symbol == REPEAT_ZERO ? 3 : 7;
    return (symbol == REPEAT_ZERO_LONG ? 11 : 3) + csni_deflate_peek(b, *extra);
}

static bool read_sizes(struct csni_deflate *d, const uint16_t *table, uint8_t *sizes, unsigned count) {
    struct csni_deflate_bits b = d->bits;
    for (unsigned i = 0; i < count;) {
        csni_deflate_fill(&b);
        unsigned symbol = table[csni_deflate_peek(&b, SIZE_CODE_BITS)];
        if (!csni_deflate_drop(&b, symbol & 0xff)) return csni_deflate_fail_early(d);
        symbol >>= 8;
        if (symbol < REPEAT_LAST) {
            sizes[i++] = (uint8_t)symbol;
            continue;
        }
        unsigned extra, repeat = read_repeat(&b, symbol, &extra);
        if (!csni_deflate_drop(&b, extra)) return csni_deflate_fail_early(d);
        if (repeat > count - i || (symbol == REPEAT_LAST && !i)) return csni_deflate_fail(d, "invalid repeat of a code size");
        memset(sizes + i, symbol == REPEAT_LAST ? sizes[i - 1] : 0, repeat);
        i += repeat;
    }
    d->bits = b;
    return true;
}

static bool read_header_dynamic(struct csni_deflate *d) {
    uint32_t counts;
    d->has_fixed_code = false;
    if (!take_header_bits(d, 14, &counts)) return false;
    unsigned lengths = (counts & 31) + 257, distances = (counts >> 5 & 31) + 1, size_codes = (counts >> 10) + 4;
    if (lengths > MAX_LENGTH_CODES || distances > MAX_DISTANCE_CODES)
        return csni_deflate_fail(d, "too many codes of lengths or distances");
    uint16_t table[1 << SIZE_CODE_BITS];
    uint8_t sizes[MAX_LENGTH_CODES + MAX_DISTANCE_CODES];
    if (!read_size_code(d, size_codes, table) || !read_sizes(d, table, sizes, lengths + distances)) return false;
    if (!sizes[CSNI_DEFLATE_END_OF_BLOCK]) return csni_deflate_fail(d, "no code ends the block");
    return make_codes(d, sizes, lengths, distances);
}

bool csni_deflate_read_header(struct csni_deflate *d) {
    uint32_t header;
    if (!take_header_bits(d, 3, &header)) return false;
    d->last_block = header & 1;
    switch (header >> 1) {
    case 0: return read_header_stored(d);
    case 1: return read_fixed(d);
    case 2: return read_header_dynamic(d);
    default: return csni_deflate_fail(d, "invalid block type");
    }
}
