/* The accelerator: everything that lookups need of an index, decoded once, in memory.
 *
 * The code of the image is cut into buckets of the same power of two of bytes. A table gives the place of each bucket's
 * block; a block holds the functions within its bucket and its segments, stretches with one answer: row, innermost
 * inlined call, function. A lookup without inlined calls is two reads from memory, one after the other: table and block
 * (one to three neighbouring cache lines); each inlined call adds one, near the one before.
 *
 * What is out of the ordinary (damaged or overlapping records, nodes outside their parents, files that do not exist)
 * becomes a segment that sends the lookup to the index itself, so that every answer is the index's own.
 * Everything here was made by csni_gsym_accel_build(), nothing is foreign: lookups need no checks. */
#ifndef CSNI_GSYM_ACCEL_H
#define CSNI_GSYM_ACCEL_H

#include "gsym/gsym.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* An inlined call with a call file. Chains end at node 0, which stands for none. */
struct csni_accel_node {
    uint32_t name, call_file, call_line;
    uint32_t first;  /* lowest address, from the accelerator's first */
    uint32_t parent;
};

enum csni_accel_special {              /* in place of a node */
    CSNI_ACCEL_NO_NODE = 0,
    CSNI_ACCEL_GAP = UINT32_MAX - 1,   /* behind the end of its function */
    CSNI_ACCEL_PLAIN = UINT32_MAX      /* to be looked up in the index */
};

/* A block: header, functions, `segment_count` bytes (the low address bits at which segments begin; the first is 0), up
 * to three bytes of padding, segments. */
struct csni_accel_block {
    uint8_t last_segment;    /* number of segments less one: a bucket has 256 bytes at most */
    uint8_t last_function;
    uint16_t segments_at;    /* bytes from the block's start */
};
struct csni_accel_function {
    uint32_t start; /* from the accelerator's first address */
    uint32_t size, name;
    uint32_t index; /* in the address table */
};
struct csni_accel_segment {
    uint32_t node;          /* innermost inlined call, or enum csni_accel_special */
    uint32_t line;          /* where there is no file: the reason */
    uint32_t file_function; /* file << 8 | function within the block */
};

enum {
    CSNI_ACCEL_UNIT = 4,           /* table entries count these */
    CSNI_ACCEL_SHIFT_MIN = 4, CSNI_ACCEL_SHIFT_MAX = 8,
    CSNI_ACCEL_FILE_MAX = (1 << 24) - 1,
    CSNI_ACCEL_SLACK = 64          /* readable bytes behind the last block */
};

struct csni_gsym_accel {
    const uint32_t *table;         /* NULL: there is no accelerator */
    const uint8_t *blocks;
    const struct csni_accel_node *nodes;
    uint64_t first;                /* address of the first function */
    uint64_t covered;              /* bytes of code from `first` on */
    unsigned shift;                /* log2 of the size of a bucket */
    uint32_t plain_functions;      /* those left to the index */
    void *memory;
    size_t memory_size;
};

/* Decodes the index. max_bytes: of memory to keep, and about as much again while building; what does not fit, and what
 * is out of the ordinary, is left to the index. Work and memory are bounded by the size of the file, whatever it holds.
 * CSN_OK, also where nothing could be accelerated (out->table is then NULL); CSN_E_MEMORY. */
csn_status csni_gsym_accel_build(struct csni_gsym_accel *out, const struct csni_gsym *gsym, uint64_t max_bytes,
                                 const struct csn_allocator *allocator, struct csn_error *err);
void csni_gsym_accel_free(struct csni_gsym_accel *accel, const struct csn_allocator *allocator); /* a zeroed one is fine */

/* ---- the steps of a lookup, apart so that a batch can take each for many addresses ---- */

static inline bool csni_accel_covers(const struct csni_gsym_accel *accel, uint64_t addr) {
    return addr - accel->first < accel->covered;
}

static inline const uint32_t *csni_accel_entry(const struct csni_gsym_accel *accel, uint64_t addr) {
    return accel->table + ((addr - accel->first) >> accel->shift);
}

static inline const struct csni_accel_block *csni_accel_block(const struct csni_gsym_accel *accel,
                                                              const uint32_t *entry) {
    return (const struct csni_accel_block *)(const void *)(accel->blocks + (size_t)*entry * CSNI_ACCEL_UNIT);
}

/* How many of the bytes lows[1..last], which ascend, are at or below `low`. */
static inline unsigned csni_accel_count_portable(const uint8_t *lows, unsigned last, unsigned low) {
    unsigned count = 0;
    while (count < last && lows[1 + count] <= low) count++;
    return count;
}

/* The same 16 at a time; that many bytes behind the last may be read. */
static inline unsigned csni_accel_count(const uint8_t *lows, unsigned last, unsigned low) {
#if defined(__SSE2__) && !defined(CSNI_PORTABLE)
    __m128i key = _mm_set1_epi8((char)low);
    for (unsigned k = 0, count = 0;; k += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(lows + 1 + k));
        unsigned below = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, key), v));
        if (last - k <= 16) return count + (unsigned)__builtin_popcount(below & ((1u << (last - k)) - 1));
        if (below != 0xffff) return count + (unsigned)__builtin_popcount(below);
        count += 16;
    }
#else
    return csni_accel_count_portable(lows, last, low);
#endif
}

static inline const struct csni_accel_segment *csni_accel_segment(const struct csni_gsym_accel *accel,
                                                                  const struct csni_accel_block *block, uint64_t addr) {
    const uint8_t *base = (const uint8_t *)block;
    const uint8_t *lows = base + sizeof *block + (block->last_function + 1u) * sizeof(struct csni_accel_function);
    unsigned low = (unsigned)(addr - accel->first) & ((1u << accel->shift) - 1);
    const void *segments = base + block->segments_at;
    return (const struct csni_accel_segment *)segments + csni_accel_count(lows, block->last_segment, low);
}

/* The frames of a segment that is not special, innermost first; as many as fit are stored, the number is returned. */
static inline size_t csni_accel_frames(const struct csni_gsym_accel *accel, uint32_t file_count,
                                       const struct csni_accel_segment *segment,
                                       const struct csni_accel_function *function, uint64_t addr,
                                       struct csn_frame_ref *frames, size_t cap) {
    uint64_t rel = addr - accel->first;
    uint32_t file = segment->file_function >> 8;
    uint32_t line = file ? segment->line : 0, reason = file ? CSN_REASON_COMPLETE : segment->line;
    size_t count = 0;
    for (uint32_t k = segment->node; k; count++) {
        const struct csni_accel_node *node = &accel->nodes[k];
        if (count < cap)
            frames[count] = (struct csn_frame_ref){ node->name, rel - node->first, file, line, CSN_FRAME_INLINED,
                                                    reason };
        bool known = node->call_file < file_count;
        file = known ? node->call_file : 0;
        line = node->call_line;
        reason = known ? CSN_REASON_COMPLETE : CSN_REASON_BAD_FILE;
        k = node->parent;
    }
    if (count < cap)
        frames[count] = (struct csn_frame_ref){ function->name, rel - function->start, file, line, 0, reason };
    return count + 1;
}

/* The answer of a segment that is not CSNI_ACCEL_PLAIN. */
static inline csn_status csni_accel_answer(const struct csni_gsym_accel *accel, uint32_t file_count,
                                           const struct csni_accel_block *block,
                                           const struct csni_accel_segment *segment, uint64_t addr,
                                           struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out) {
    const void *functions = block + 1;
    const struct csni_accel_function *function =
        (const struct csni_accel_function *)functions + (segment->file_function & 0xff);
    *out = (struct csn_lookup){ .function_start = accel->first + function->start, .function_size = function->size,
                                .function_index = function->index, .reason = CSN_REASON_GAP };
    if (segment->node == CSNI_ACCEL_GAP) return CSN_NONE;
    out->reason = segment->file_function >> 8 ? CSN_REASON_COMPLETE : segment->line;
    out->frame_count = csni_accel_frames(accel, file_count, segment, function, addr, frames, cap);
    return CSN_OK;
}

/* Asks for the lines of a block, or of a node and those before it, where its parents often are. */
static inline void csni_accel_prefetch_block(const struct csni_accel_block *block) {
    csni_prefetch_lines(block, 3 * 64);
}
static inline void csni_accel_prefetch_node(const struct csni_gsym_accel *accel, uint32_t node) {
    if (node == CSNI_ACCEL_NO_NODE || node >= CSNI_ACCEL_GAP) return;
    const char *p = (const char *)&accel->nodes[node];
    csni_prefetch(p);
    csni_prefetch(p - 64);
}

#endif
