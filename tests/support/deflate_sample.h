/* Streams of deflate made symbol by symbol, and what they inflate to. */
#ifndef CSNI_DEFLATE_SAMPLE_H
#define CSNI_DEFLATE_SAMPLE_H

#include "wire/wire.h"

struct deflate_sample {
    struct wire stream, plain;
    uint64_t bits;           /* that were not written yet, `count` of them */
    unsigned count;
    uint8_t sizes[288 + 32]; /* of the codes of the block: symbols, distances */
    uint32_t seed;
};

void deflate_sample_init(struct deflate_sample *s, uint32_t seed); /* with a header of zlib */
void deflate_sample_deinit(struct deflate_sample *s);
uint32_t deflate_sample_pick(struct deflate_sample *s, uint32_t count); /* below that; not random at all, but looks like it */

void deflate_sample_bits(struct deflate_sample *s, uint64_t value, unsigned count);
void deflate_sample_stored(struct deflate_sample *s, bool last, size_t size); /* a block of anything */
void deflate_sample_fixed(struct deflate_sample *s, bool last);               /* its header */
/* The header of a block whose codes are anything complete, of up to `longest` bits, at least 9. */
void deflate_sample_dynamic(struct deflate_sample *s, bool last, unsigned longest);
/* In the codes of the block. A match's distance may go back to the begin of everything and 32768 bytes at most. */
void deflate_sample_literal(struct deflate_sample *s, unsigned byte);
void deflate_sample_match(struct deflate_sample *s, unsigned size, unsigned distance);
void deflate_sample_symbol(struct deflate_sample *s, unsigned symbol); /* as it is */
void deflate_sample_distance(struct deflate_sample *s, unsigned symbol);
void deflate_sample_end_block(struct deflate_sample *s);
void deflate_sample_anything(struct deflate_sample *s, size_t size); /* literals and matches, that much plain text or a little more */
void deflate_sample_end(struct deflate_sample *s);                   /* the checksum */

#endif
