/* The accelerator: everything that lookups need of an index, decoded once, in memory.
 *
 * The code of the image is cut into buckets of the same power of two of bytes. A table gives the place of each bucket's
 * block; a block holds the functions within its bucket and its segments, stretches with one answer: row, innermost
 * inlined call, function. A lookup without inlined calls is two reads from memory, one after the other: table and block
 * (one to three neighbouring cache lines); each inlined call adds one, near the one before.
 *
 * What is out of the ordinary (damaged or overlapping records, nodes outside their parents, files that do not exist)
 * becomes a segment that sends the lookup to the index itself, so that every answer is the index's own. Strings stay where
 * the index has them; their lengths are kept beside their offsets, so that finding a frame's strings touches none of them.
 * Everything here was made by csni_gsym_accel_build(), nothing is foreign: lookups need no checks. */
#ifndef CSNI_GSYM_ACCEL_H
#define CSNI_GSYM_ACCEL_H

#include "formats/gsym/read/gsym.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* The length of a string, in one byte. */
enum { CSNI_ACCEL_LONG = 255 }; /* at least that */

/* An inlined call. Chains end at node 0, which stands for none. */
struct csni_accel_node {
    uint32_t name;
    uint32_t file_length; /* call file << 8 | length of the name */
    uint32_t call_line;
    uint32_t first;  /* lowest address, from the accelerator's first */
    uint32_t parent;
};

enum csni_accel_special {              /* in place of a node */
    CSNI_ACCEL_NO_NODE = 0,
    CSNI_ACCEL_GAP = UINT32_MAX - 1,   /* after the end of its function */
    CSNI_ACCEL_PLAIN = UINT32_MAX      /* to be looked up in the index */
};

/* A block: header, functions, a byte for each (the length of its name), `segment_count` bytes (the low address bits at
 * which segments begin; the first is 0), up to three bytes of padding, segments. */
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

/* A file of the index: offset << 8 | length, each. */
struct csni_accel_file {
    uint64_t directory, base;
};

enum {
    CSNI_ACCEL_UNIT = 4,           /* table entries count these */
    CSNI_ACCEL_SHIFT_MIN = 4, CSNI_ACCEL_SHIFT_MAX = 8,
    CSNI_ACCEL_FILE_MAX = (1 << 24) - 1,
    CSNI_ACCEL_SLACK = 64          /* readable bytes after the last block */
};

struct csni_gsym_accel {
    const uint32_t *table;         /* NULL: there is no accelerator */
    const uint8_t *blocks;
    const struct csni_accel_node *nodes;
    const struct csni_accel_file *files; /* as many as the index has */
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

/* The same 16 at a time; that many bytes after the last may be read. */
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
    const uint8_t *lows = base + sizeof *block + (block->last_function + 1u) * (sizeof(struct csni_accel_function) + 1);
    unsigned low = (unsigned)(addr - accel->first) & ((1u << accel->shift) - 1);
    const void *segments = base + block->segments_at;
    return (const struct csni_accel_segment *)segments + csni_accel_count(lows, block->last_segment, low);
}

static inline const struct csni_accel_function *csni_accel_function(const struct csni_accel_block *block, unsigned idx) {
    const void *functions = block + 1;
    return (const struct csni_accel_function *)functions + idx;
}

/* Walks the frames of a segment, innermost first. */
struct csni_accel_walk {
    uint64_t rel;            /* address from the accelerator's first */
    const struct csni_accel_block *block;
    uint32_t node;
    uint32_t file, line, reason; /* of the next frame */
    uint32_t function;       /* within the block */
    unsigned length;         /* of the last frame's name */
    bool done;
};

/* Of a segment that is not special. */
static inline struct csni_accel_walk csni_accel_frames(const struct csni_gsym_accel *accel,
                                                       const struct csni_accel_block *block,
                                                       const struct csni_accel_segment *segment, uint64_t addr) {
    uint32_t file = segment->file_function >> 8;
    return (struct csni_accel_walk){ .rel = addr - accel->first, .block = block, .node = segment->node, .file = file,
                                     .line = file ? segment->line : 0,
                                     .reason = file ? CSN_REASON_COMPLETE : segment->line,
                                     .function = segment->file_function & 0xff };
}

/* The frames end with the one that is not inlined. */
static CSNI_GSYM_INLINE void csni_accel_next(const struct csni_gsym_accel *accel, uint32_t file_count,
                                             struct csni_accel_walk *walk, struct csn_frame_ref *out) {
    if (!walk->node) {
        const struct csni_accel_function *function = csni_accel_function(walk->block, walk->function);
        *out = (struct csn_frame_ref){ function->name, walk->rel - function->start, walk->file, walk->line, 0,
                                       walk->reason };
        walk->length = ((const uint8_t *)csni_accel_function(walk->block, walk->block->last_function + 1u))[walk->function];
        walk->done = true;
        return;
    }
    const struct csni_accel_node *node = &accel->nodes[walk->node];
    *out = (struct csn_frame_ref){ node->name, walk->rel - node->first, walk->file, walk->line, CSN_FRAME_INLINED,
                                   walk->reason };
    uint32_t call_file = node->file_length >> 8;
    walk->length = node->file_length & 0xff;
    walk->reason = csni_gsym_call_reason(call_file, file_count);
    walk->file = walk->reason == CSN_REASON_COMPLETE ? call_file : 0;
    walk->line = node->call_line;
    walk->node = node->parent;
}

/* The answer of a segment that is not CSNI_ACCEL_PLAIN; of the frames, innermost first, as many as fit. */
static inline csn_status csni_accel_answer(const struct csni_gsym_accel *accel, uint32_t file_count,
                                           const struct csni_accel_block *block,
                                           const struct csni_accel_segment *segment, uint64_t addr,
                                           struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out) {
    const struct csni_accel_function *function = csni_accel_function(block, segment->file_function & 0xff);
    *out = (struct csn_lookup){ .function_start = accel->first + function->start, .function_size = function->size,
                                .function_index = function->index, .reason = CSN_REASON_GAP };
    if (segment->node == CSNI_ACCEL_GAP) return CSN_NONE;
    out->reason = segment->file_function >> 8 ? CSN_REASON_COMPLETE : segment->line;
    struct csni_accel_walk walk = csni_accel_frames(accel, block, segment, addr);
    struct csn_frame_ref ignored;
    size_t count = 0;
    for (; !walk.done; count++) csni_accel_next(accel, file_count, &walk, count < cap ? &frames[count] : &ignored);
    out->frame_count = count;
    return CSN_OK;
}

/* The string at that offset, of which the length is known, unless it is long. */
static inline struct csn_str csni_accel_string(const struct csni_gsym *gsym, uint64_t offset, unsigned length) {
    if (offset >= gsym->strings.size) return (struct csn_str){ "", 0 };
    struct csn_str s = { (const char *)gsym->strings.ptr + offset, length };
    if (length == CSNI_ACCEL_LONG) s.len += csni_gsym_string(gsym, offset + length).len;
    return s;
}

/* As csni_gsym_file(). */
static inline void csni_accel_file(const struct csni_gsym_accel *accel, const struct csni_gsym *gsym, uint32_t idx,
                                   struct csn_str *directory, struct csn_str *base) {
    if (idx >= gsym->file_count) {
        *directory = *base = (struct csn_str){ "", 0 };
        return;
    }
    struct csni_accel_file file = accel->files[idx];
    *directory = csni_accel_string(gsym, file.directory >> 8, file.directory & 0xff);
    *base = csni_accel_string(gsym, file.base >> 8, file.base & 0xff);
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
