/* The lookup of an accelerator in one go, with AVX2 and BMI2: from the address to the frames. Where accel->direct is
 * set; what calls it is a function with the attribute CSNI_AVX2.
 *
 * The general way (gsym_accel.h) finds by branches how many segments begin before the address. Each of these waits
 * for the block, and one that is mispredicted holds up the next lookup. Here a block is decoded with masks, and the
 * lines that a lookup may need, those of the nodes before the block among them, are asked for before it is read.
 * What is out of the ordinary (no answer, damage, a block of many segments) is for the general way, which begins
 * again. */
#ifndef CSNI_GSYM_ACCEL_DIRECT_H
#define CSNI_GSYM_ACCEL_DIRECT_H

#include "base/core/byte_blocks.h"
#include "formats/gsym/read/gsym_accel.h"

#if CSNI_BYTE_BLOCKS

enum {
    CSNI_DIRECT_BEFORE = 2 * 64, CSNI_DIRECT_AFTER = 5 * 64, /* bytes asked for: nodes often end where the block begins */
    CSNI_DIRECT_LOWS = CSNI_BLOCK,                           /* segments after the first that are compared at once */
    CSNI_DIRECT_BITS = 57                                    /* of a segment: within eight bytes from any bit on */
};

/* ---- from the address to the segment ---- */

/* The next frame on the way from a segment outwards. */
struct csni_direct_walk {
    const uint8_t *function; /* the block's entry of it */
    uint64_t rel;            /* address from the function's start */
    uint32_t node;           /* innermost inlined call that is left; 0: none */
    uint32_t file, line, reason;
};

/* A block whose header can be read, and how many bytes can be from there on. NULL: there is none. */
CSNI_AVX2_INLINE const uint8_t *csni_direct_block(const struct csni_gsym_accel *accel, uint64_t at, uint64_t *left) {
    if (at + CSNI_ACCEL_BLOCK_HEADER > accel->readable) return NULL;
    *left = accel->readable - at;
    const uint8_t *p = accel->blocks + at;
    csni_prefetch_lines(p - (at < CSNI_DIRECT_BEFORE ? 0 : CSNI_DIRECT_BEFORE), CSNI_DIRECT_BEFORE);
    csni_prefetch_lines(p, CSNI_DIRECT_AFTER);
    return p;
}

/* How many of `count` low bytes, CSNI_DIRECT_LOWS at most, which ascend, are at or below `low`. */
CSNI_AVX2_INLINE unsigned csni_direct_count(const uint8_t *lows, unsigned count, unsigned low) {
    struct csni_block b = csni_block_load(lows);
    __m256i key = _mm256_set1_epi8((char)low);
    __m256i lo = _mm256_cmpeq_epi8(_mm256_min_epu8(b.lo, key), b.lo), hi = _mm256_cmpeq_epi8(_mm256_min_epu8(b.hi, key), b.hi);
    uint64_t up_to = csni_block_bits(lo, hi);
    return (unsigned)_tzcnt_u64(~_bzhi_u64(up_to, count));
}

/* How many bytes after a block's functions may be read: no fewer than in the general way, which would otherwise refuse
 * a damaged block that is taken here, so that an address had one answer alone and another in a batch. */
static inline size_t csni_direct_most(unsigned last_segment, unsigned bits) {
    size_t segments = last_segment + ((size_t)(last_segment + 1) * bits + 7) / 8 + CSNI_ACCEL_OVERREAD;
    return segments > CSNI_DIRECT_LOWS ? segments : CSNI_DIRECT_LOWS;
}

/* The segment of an address, `rel` from the accelerator's first one on, in the block at `p`. False: not known here. */
CSNI_AVX2_INLINE bool csni_direct_segment(const struct csni_gsym_accel *accel, const uint8_t *p, uint64_t left, uint64_t rel,
                                          struct csni_direct_walk *out) {
    uint64_t head = csni_load64(p);
    unsigned last_segment = head & 0xff, last_function = head >> 8 & 0xff, node_bits = head >> 16 & 63;
    unsigned line_bits = head >> 24 & 63, file_bits = head >> 56 & 63,
             function_bits = 64 - (unsigned)csni_leading_zeros(last_function);
    unsigned all_bits = node_bits + function_bits + line_bits + file_bits;
    if (last_segment > CSNI_DIRECT_LOWS || all_bits > CSNI_DIRECT_BITS) return false;
    const uint8_t *lows = p + CSNI_ACCEL_BLOCK_HEADER + (last_function + 1) * CSNI_ACCEL_FUNCTION;
    if (left < CSNI_ACCEL_BLOCK_MOST && left < (size_t)(lows - p) + csni_direct_most(last_segment, all_bits)) return false;
    size_t bit = (size_t)csni_direct_count(lows, last_segment, (unsigned)rel & ((1u << accel->shift) - 1)) * all_bits;
    uint64_t bits = csni_load64(lows + last_segment + bit / 8) >> bit % 8;
    uint32_t node = (uint32_t)_bzhi_u64(bits, node_bits);
    bits >>= node_bits;
    uint32_t function = (uint32_t)_bzhi_u64(bits, function_bits);
    bits >>= function_bits;
    uint32_t line = csni_load32(p + CSNI_ACCEL_B_LINE) + (uint32_t)_bzhi_u64(bits, line_bits);
    out->file = (uint32_t)(head >> 32 & CSNI_ACCEL_FILE_MAX) + (uint32_t)_bzhi_u64(bits >> line_bits, file_bits);
    if (function > last_function || out->file >= accel->file_count) return false;
    out->function = p + CSNI_ACCEL_BLOCK_HEADER + function * CSNI_ACCEL_FUNCTION;
    out->rel = rel - csni_load32(out->function);
    out->line = out->file ? line : 0;
    out->reason = out->file ? CSN_REASON_COMPLETE : line;
    out->node = CSNI_ACCEL_NO_NODE;
    if (!node) return true;
    uint64_t cell = (uint64_t)csni_load32(p + CSNI_ACCEL_B_NODE) + node - CSNI_ACCEL_NODES;
    if (node < CSNI_ACCEL_NODES || cell >= accel->node_count) return false;
    out->node = (uint32_t)cell;
    csni_accel_prefetch_node(accel, out->node);
    return true;
}

/* ---- frames ---- */

struct csni_direct_call {
    uint32_t name, length, offset;
};

/* The inlined call of the walk's node, which is left for the one around it. */
CSNI_AVX2_INLINE struct csni_direct_call csni_direct_leave_node(const struct csni_gsym_accel *accel, struct csni_direct_walk *w) {
    const uint8_t *node = csni_accel_node(accel, w->node);
    struct csni_direct_call call = { csni_accel_node_field(accel, node, CSNI_ACCEL_F_NAME),
                                     csni_accel_node_field(accel, node, CSNI_ACCEL_F_LENGTH),
                                     csni_accel_node_field(accel, node, CSNI_ACCEL_F_OFFSET) };
    uint32_t file = csni_accel_node_field(accel, node, CSNI_ACCEL_F_FILE);
    uint32_t outer = csni_accel_node_field(accel, node, CSNI_ACCEL_F_PARENT);
    w->reason = csni_gsym_call_reason(file, accel->file_count);
    w->file = w->reason == CSN_REASON_COMPLETE ? file : 0;
    w->line = csni_accel_node_field(accel, node, CSNI_ACCEL_F_LINE);
    w->node = outer && outer < w->node ? w->node - outer : CSNI_ACCEL_NO_NODE;
    return call;
}

#endif

#endif
