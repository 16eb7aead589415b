/* Tables for the decoder of deflate's fast loop.
 *
 * A table of n bits is that of n - 1 bits twice, and what takes exactly n bits on top of it. */
#include "inflate/deflate_table.h"

#include <string.h>

const uint16_t csni_deflate_length_base[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                              31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
const uint8_t csni_deflate_length_extra[] = {
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0
};
const uint16_t csni_deflate_distance_base[] = { 1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
const uint8_t csni_deflate_distance_extra[] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };

enum { FIRST_LENGTH = CSNI_DEFLATE_END_OF_BLOCK + 1, MIN_MATCH = 3 };

typedef struct csni_deflate_entry entry;

/* A length of at most 16 bytes whose code and extra bits leave room for a distance. */
struct length {
    uint16_t code;
    uint8_t size, bits;
};

struct maker {
    struct csni_deflate_table *table;
    const struct csni_deflate_code *symbols, *distances;
    struct length lengths[CSNI_DEFLATE_COPY + 1 - MIN_MATCH];
    unsigned length_count;
};

static entry usual(unsigned taken, unsigned skip, unsigned size, unsigned base) {
    return (entry){ .taken = (int8_t)taken, .skip = (uint8_t)skip, .size = (uint8_t)size, .base = base };
}

static entry rare(enum csni_deflate_kind kind, unsigned taken, unsigned skip, unsigned base) {
    return (entry){ .taken = (int8_t)((int)taken + CSNI_DEFLATE_RARE), .skip = (uint8_t)skip, .kind = (uint8_t)kind, .base = base };
}

static void put_code_length(struct maker *m, unsigned index, unsigned bits) {
    unsigned at = m->symbols->symbols[index] - FIRST_LENGTH;
    if (at >= CSNI_DEFLATE_LENGTHS) return; /* of the fixed code, stands for nothing */
    unsigned base = csni_deflate_length_base[at], extra = csni_deflate_length_extra[at];
    m->table->symbols[m->symbols->codes[index]] = rare(CSNI_DEFLATE_LENGTH, bits + extra, bits, base);
    for (unsigned i = 0; bits + extra < CSNI_DEFLATE_BITS && i < 1u << extra && base + i <= CSNI_DEFLATE_COPY; i++)
        m->lengths[m->length_count++] = (struct length){ .code = (uint16_t)(m->symbols->codes[index] | i << bits),
                                                         .size = (uint8_t)(base + i),
                                                         .bits = (uint8_t)(bits + extra) };
}

static void put_symbols(struct maker *m, unsigned bits) {
    for (unsigned i = m->symbols->first[bits]; i < m->symbols->first[bits + 1]; i++) {
        unsigned symbol = m->symbols->symbols[i];
        entry *to = &m->table->symbols[m->symbols->codes[i]];
        if (symbol > CSNI_DEFLATE_END_OF_BLOCK) put_code_length(m, i, bits);
        else if (symbol == CSNI_DEFLATE_END_OF_BLOCK) *to = rare(CSNI_DEFLATE_OTHER, 0, 0, 0);
        else *to = usual(bits, bits + CSNI_DEFLATE_LITERAL, 1, UINT8_MAX - symbol);
    }
}

static entry match(unsigned bits, unsigned size, unsigned distance_symbol) {
    unsigned base = csni_deflate_distance_base[distance_symbol], taken = bits + csni_deflate_distance_extra[distance_symbol];
    entry e = size <= base ? usual(taken, bits, size, base) : rare(CSNI_DEFLATE_OVERLAP, taken, bits, base);
    e.size = (uint8_t)size;
    return e;
}

static void put_matches(struct maker *m, unsigned bits) {
    const struct csni_deflate_code *d = m->distances;
    for (unsigned i = 0; i < m->length_count; i++) {
        const struct length *l = &m->lengths[i];
        if (l->bits >= bits) continue;
        unsigned left = bits - l->bits;
        for (unsigned k = d->first[left]; k < d->first[left + 1]; k++)
            if (d->symbols[k] < CSNI_DEFLATE_DISTANCES)
                m->table->symbols[l->code | (unsigned)d->codes[k] << l->bits] = match(bits, l->size, d->symbols[k]);
    }
}

static void put_distances(struct maker *m, unsigned bits) {
    const struct csni_deflate_code *d = m->distances;
    for (unsigned k = d->first[bits]; k < d->first[bits + 1]; k++) {
        unsigned symbol = d->symbols[k];
        if (symbol >= CSNI_DEFLATE_DISTANCES) continue; /* of the fixed code, stands for nothing */
        unsigned taken = bits + csni_deflate_distance_extra[symbol];
        m->table->distances[d->codes[k]] = usual(taken, bits, 0, csni_deflate_distance_base[symbol]);
    }
}

static void double_up(entry *entries, unsigned bits) {
    memcpy(entries + ((size_t)1 << (bits - 1)), entries, sizeof *entries << (bits - 1));
}

void csni_deflate_table_make(struct csni_deflate_table *table, const struct csni_deflate_code *symbols,
                             const struct csni_deflate_code *distances) {
    struct maker m = { .table = table, .symbols = symbols, .distances = distances };
    table->symbols[0] = table->distances[0] = rare(CSNI_DEFLATE_OTHER, 0, 0, 0);
    for (unsigned bits = 1; bits <= CSNI_DEFLATE_BITS; bits++) {
        double_up(table->symbols, bits);
        put_symbols(&m, bits);
        put_matches(&m, bits);
    }
    for (unsigned bits = 1; bits <= CSNI_DEFLATE_DISTANCE_BITS; bits++) {
        double_up(table->distances, bits);
        put_distances(&m, bits);
    }
}
