/* What the files of the deflate decoder share. */
#ifndef CSNI_DEFLATE_PRIVATE_H
#define CSNI_DEFLATE_PRIVATE_H

#include "base/core/endian.h"
#include "inflate/deflate.h"
#include "inflate/deflate_table.h"

enum {
    CSNI_DEFLATE_WINDOW = 32768,
    /* What the fast loop needs left of its input and output. */
    CSNI_DEFLATE_IN_MARGIN = 64,
    CSNI_DEFLATE_OUT_MARGIN = 512,
};

/* Bits after the lowest `count` are those that follow in the stream, or zero. */
struct csni_deflate_bits {
    const uint8_t *in, *end;
    uint64_t buf;
    unsigned count;
};

/* Afterwards there are 56 bits at least, unless the input ends. */
static inline void csni_deflate_fill(struct csni_deflate_bits *b) {
    if (b->end - b->in >= 8) {
        b->buf |= csni_get64(b->in, false) << b->count;
        b->in += (63 - b->count) >> 3;
        b->count |= 56;
        return;
    }
    for (; b->count < 56 && b->in < b->end; b->count += 8) b->buf |= (uint64_t)*b->in++ << b->count;
}

static inline uint32_t csni_deflate_peek(const struct csni_deflate_bits *b, unsigned count) {
    return (uint32_t)b->buf & ((1u << count) - 1);
}
/* False: the input ends within them. `count` is below 56. */
static inline bool csni_deflate_drop(struct csni_deflate_bits *b, unsigned count) {
    if (count > b->count) return false;
    b->buf >>= count;
    b->count -= count;
    return true;
}

enum csni_deflate_place {
    CSNI_DEFLATE_AT_BEGIN,
    CSNI_DEFLATE_AT_BLOCK,      /* before a block, or of the checksum */
    CSNI_DEFLATE_IN_STORED,
    CSNI_DEFLATE_IN_CODED,
    CSNI_DEFLATE_AT_CHECKSUM,
    CSNI_DEFLATE_ENDED,
};

struct csni_deflate;
typedef bool csni_deflate_run(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest);

struct csni_deflate {
    const struct csn_allocator *alloc;
    struct csni_span data;
    struct csni_deflate_bits bits;
    enum csni_deflate_place place;
    bool last_block, has_fixed_code; /* symbols, distances and table are of the fixed code */
    uint32_t stored_left;
    size_t match_size, match_distance;   /* what is left of a match */
    uint32_t sum;                        /* Adler-32 of what was given */
    const char *fault;
    csni_deflate_run *run, *run_checked;
    uint8_t literals[UINT8_MAX + 1 + CSNI_DEFLATE_COPY]; /* where they are copied from; what is after each one does not matter */
    struct csni_deflate_code symbols, distances;
    struct csni_deflate_table table;
    /* The last bytes that were given: matches refer to them when the next ones go elsewhere. */
    size_t recent_size;
    uint8_t recent[4 * CSNI_DEFLATE_WINDOW];
};

static inline bool csni_deflate_fail(struct csni_deflate *d, const char *fault) {
    d->fault = fault;
    return false;
}

bool csni_deflate_fail_early(struct csni_deflate *d);
bool csni_deflate_fail_distance(struct csni_deflate *d);

/* Of a block: stored_left, or the codes and their table. */
bool csni_deflate_read_header(struct csni_deflate *d);

/* Puts a literal out, or keeps a match in `d`, or ends the block. `oldest`: the first byte that a match may refer to. */
bool csni_deflate_read_symbol(struct csni_deflate *d, uint8_t **out, const uint8_t *oldest);
bool csni_deflate_read_distance(struct csni_deflate *d, size_t *distance); /* its 28 bits are there, unless the input ends */

/* run: decodes to the end of the block, or while the margins are kept. CSNI_DEFLATE_WINDOW bytes are before *out; where they are
 * not, run_checked compares distances. */
void csni_deflate_choose_run(struct csni_deflate *d);

#endif
