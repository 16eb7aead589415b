/* What the next bits of a deflate stream stand for, looked up at once: a literal, or a whole match.
 *
 * Whether a literal or a match comes next is near to random, so a decoder that branches on it guesses wrong every third time
 * and waits. Here both are the same thing: 16 bytes are copied and `size` of them stay. A literal is copied from a table of all
 * bytes. A length and its distance are one entry where their codes fit into CSNI_DEFLATE_BITS together, and the match into 16
 * bytes. */
#ifndef CSNI_DEFLATE_TABLE_H
#define CSNI_DEFLATE_TABLE_H

#include "inflate/deflate_code.h"

/* 2^11 entries: more take longer to make and leave the first-level cache, fewer leave too many matches in two parts. */
enum { CSNI_DEFLATE_BITS = 11, CSNI_DEFLATE_DISTANCE_BITS = 9, CSNI_DEFLATE_COPY = 16 };
enum { CSNI_DEFLATE_END_OF_BLOCK = 256, CSNI_DEFLATE_LENGTHS = 29, CSNI_DEFLATE_DISTANCES = 30 };

/* Fields lie in bytes of their own: processors have ports to spare for loads, not for shifts. */
struct csni_deflate_entry {
    int8_t taken;      /* bits from the stream, extra bits included; CSNI_DEFLATE_RARE added: `kind` says what it is */
    uint8_t skip;      /* bits before the extra bits; CSNI_DEFLATE_LITERAL added: a literal */
    uint8_t size;      /* bytes it puts out */
    uint8_t kind;
    uint32_t base;     /* distance without its extra bits; of a literal, 255 less it */
};

enum { CSNI_DEFLATE_RARE = -128, CSNI_DEFLATE_LITERAL = 64 };

enum csni_deflate_kind {
    CSNI_DEFLATE_OTHER,         /* a code that is too long for the table, no code at all, or the end of the block */
    CSNI_DEFLATE_LENGTH,        /* base and extra bits are a length; its distance is still to be read */
    CSNI_DEFLATE_OVERLAP,       /* a match that may be longer than its distance */
};

struct csni_deflate_table {
    struct csni_deflate_entry symbols[1 << CSNI_DEFLATE_BITS];
    struct csni_deflate_entry distances[1 << CSNI_DEFLATE_DISTANCE_BITS]; /* rare: CSNI_DEFLATE_OTHER */
};

void csni_deflate_table_make(struct csni_deflate_table *table, const struct csni_deflate_code *symbols,
                             const struct csni_deflate_code *distances);

/* Length symbols from 257, distance symbols from 0: the least value, and how many bits are added to it. */
extern const uint16_t csni_deflate_length_base[CSNI_DEFLATE_LENGTHS], csni_deflate_distance_base[CSNI_DEFLATE_DISTANCES];
extern const uint8_t csni_deflate_length_extra[CSNI_DEFLATE_LENGTHS], csni_deflate_distance_extra[CSNI_DEFLATE_DISTANCES];

#endif
