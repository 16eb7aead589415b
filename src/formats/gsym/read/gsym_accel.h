/* The accelerator: everything that lookups need of an index, decoded once; in memory, or stored in the file.
 *
 * The code of the image is cut into buckets of the same power of two of bytes. A table gives the place of each bucket's
 * block; a block holds the functions within its bucket and its segments, stretches with one answer: row, innermost
 * inlined call, function. A lookup without inlined calls is two reads from memory, one after the other: table and block
 * (one to three neighbouring cache lines); each inlined call adds one, near the one before.
 *
 * What is out of the ordinary (damaged or overlapping records, nodes outside their parents, files that do not exist)
 * becomes a segment that sends the lookup to the index itself, so that every answer is the index's own. Strings stay where
 * the index has them; their lengths are kept beside their offsets, so that finding a frame's strings touches none of them.
 *
 * One that is stored is as foreign as the rest of the file: csni_gsym_accel_parse() checks where its tables lie, a lookup
 * what it reads of them. A damaged one gives wrong answers, as damaged records do, or none and sends the lookup to the index
 * itself. docs/formats/gsym.md describes the bytes. */
#ifndef CSNI_GSYM_ACCEL_H
#define CSNI_GSYM_ACCEL_H

#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/read/gsym.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* A field of a node: within 64 bits from a byte on. */
struct csni_accel_field {
    uint32_t byte, shift;
    uint64_t mask;
};

struct csni_gsym_accel {
    const uint8_t *table;          /* NULL: there is no accelerator */
    const uint8_t *blocks, *files;
    uint64_t first;                /* address of the first function */
    uint64_t covered;              /* bytes of code from `first` on */
    uint64_t readable;             /* bytes from `blocks` on */
    unsigned shift;                /* log2 of the size of a bucket */
    uint32_t node_bytes, node_count /* cells */, file_count, function_count;
    struct csni_accel_field fields[CSNI_ACCEL_FIELDS];
    uint32_t plain_functions;      /* those left to the index */
    bool direct;                   /* see gsym_accel_direct.h */
    void *memory;                  /* NULL: it is stored in the file */
    size_t memory_size;
    size_t stored_size;
};

/* ---- gsym_accel.c ---- */

/* The accelerator in `region` as its trailer tells; `readable` bytes may be read from its beginning on. False: there
 * is none that can be used. */
bool csni_gsym_accel_parse(struct csni_gsym_accel *out, const struct csni_gsym *gsym, const uint8_t *trailer,
                           struct csni_span region, uint64_t readable);
/* That of a file which has one: gsym->accel. */
bool csni_gsym_accel_take_stored(struct csni_gsym_accel *out, const struct csni_gsym *gsym);

/* ---- gsym_accel_build.c ---- */

/* Decodes the index. max_bytes: of memory to keep, and about as much again while building; what does not fit, and what
 * is out of the ordinary, is left to the index. Work and memory are bounded by the size of the file, whatever it holds.
 * CSN_OK, also where nothing could be accelerated (out->table is then NULL); CSN_E_MEMORY. */
csn_status csni_gsym_accel_build(struct csni_gsym_accel *out, const struct csni_gsym *gsym, uint64_t max_bytes,
                                 const struct csn_allocator *allocator, struct csn_error *err);
void csni_gsym_accel_free(struct csni_gsym_accel *accel, const struct csn_allocator *allocator); /* a zeroed one is fine */

/* What a writer may choose. */
struct csni_accel_form {
    uint32_t first_read; /* CSNI_ACCEL_T_FIRST_READ */
    unsigned shift;      /* CSNI_ACCEL_T_SHIFT, if the index covers no more than so many bytes of code; 0: as suits the index */
    uint64_t covered;
    uint64_t file_size;  /* without an accelerator: what is covered has a limit by it; 0: that of the file as it is */
};

/* The region of an accelerator as it is stored at a multiple of CSNI_ACCEL_PAGE, and then its trailer, which lies elsewhere
 * in the file and does not yet tell where the region begins. Empty where nothing can be accelerated. The caller releases them with
 * csn_bytes_free(). */
csn_status csni_gsym_accel_encode(struct csn_bytes *out, const struct csni_gsym *gsym, const struct csni_accel_form *form,
                                  const struct csn_allocator *allocator, struct csn_error *err);

/* The size of the file, without its accelerator, by which so many bytes of code are the most that are covered. */
uint64_t csni_gsym_accel_file_size(uint64_t covered);

/* ---- the steps of a lookup, apart so that a batch can take each for many addresses ---- */

static inline bool csni_accel_covers(const struct csni_gsym_accel *accel, uint64_t addr) {
    return addr - accel->first < accel->covered;
}

/* The name of the first function of a bucket: where the names of the bucket's functions begin. */
static inline void csni_accel_prefetch_name(const struct csni_gsym *gsym, const uint8_t *entry) {
    csni_gsym_prefetch_string(gsym, csni_get32(entry + 4, false));
}

static inline const uint8_t *csni_accel_entry(const struct csni_gsym_accel *accel, uint64_t addr) {
    return accel->table + ((addr - accel->first) >> accel->shift) * CSNI_ACCEL_ENTRY;
}

/* A block, as far as its header tells. */
struct csni_accel_block {
    const uint8_t *at;
    const uint8_t *lows;      /* the low address bits at which segments 1 to last_segment begin */
    const uint8_t *packed;
    unsigned last_segment, last_function;
    unsigned node_bits, line_bits, file_bits, function_bits;
    uint32_t file;            /* what is added to a segment's */
};

/* The first CSNI_ACCEL_START bytes of a region, which are zero. */
static inline void csni_accel_put_start(uint8_t *region) {
    csni_put32(region, CSNI_ACCEL_MAGIC, false);
    csni_put32(region + 4, CSNI_ACCEL_REVISION, false);
}

static inline uint32_t csni_accel_u32(const uint8_t *p) { return csni_get32(p, false); }

/* How many of the bytes lows[0..count), which ascend, are at or below `low`. */
static inline unsigned csni_accel_count_portable(const uint8_t *lows, unsigned count, unsigned low) {
    unsigned below = 0;
    while (below < count && lows[below] <= low) below++;
    return below;
}

/* The same 16 at a time; that many bytes after the last may be read. Of bytes that do not ascend: any number up to count. */
static inline unsigned csni_accel_count(const uint8_t *lows, unsigned count, unsigned low) {
#if defined(__SSE2__) && !defined(CSNI_PORTABLE)
    __m128i key = _mm_set1_epi8((char)low);
    for (unsigned k = 0;; k += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(lows + k));
        unsigned above = ~(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(v, key), v));
        unsigned below = k + (unsigned)__builtin_ctz(above); /* the upper bits are set */
        if (below < k + 16 || below >= count) return below < count ? below : count;
    }
#else
    return csni_accel_count_portable(lows, count, low);
#endif
}

static inline unsigned csni_accel_segment_bits(const struct csni_accel_block *b) {
    return b->node_bits + b->function_bits + b->line_bits + b->file_bits;
}

/* Whether all of a block that is near the end can be read. */
static inline bool csni_accel_block_fits(const struct csni_gsym_accel *accel, uint64_t at, const struct csni_accel_block *b) {
    uint64_t packed = (uint64_t)(b->packed - b->at) + ((uint64_t)csni_accel_segment_bits(b) * (b->last_segment + 1u) + 7) / 8;
    return packed + CSNI_ACCEL_OVERREAD <= accel->readable - at;
}

/* The block of a table's entry. False: it does not lie within the file. */
static CSNI_GSYM_INLINE bool csni_accel_open_block(const struct csni_gsym_accel *accel, const uint8_t *entry,
                                                   struct csni_accel_block *out) {
    uint64_t at = csni_accel_u32(entry);
    if (at + CSNI_ACCEL_BLOCK_HEADER > accel->readable) return false;
    const uint8_t *p = accel->blocks + at;
    for (unsigned line = 1; line < 4; line++) csni_prefetch(p + line * 64);
    uint64_t head = csni_get64(p, false);
    unsigned last_segment = head & 0xff, last_function = head >> 8 & 0xff;
    const uint8_t *lows = p + CSNI_ACCEL_BLOCK_HEADER + (last_function + 1u) * CSNI_ACCEL_FUNCTION;
    *out = (struct csni_accel_block){ .at = p, .lows = lows, .packed = lows + last_segment, .last_segment = last_segment,
                                      .last_function = last_function, .node_bits = head >> 16 & 63u,
                                      .line_bits = head >> 24 & 63u, .file_bits = head >> 56 & 63u,
                                      .file = head >> 32 & CSNI_ACCEL_FILE_MAX,
                                      .function_bits = last_function ? 32u - (unsigned)__builtin_clz(last_function) : 0 };
    return accel->readable - at >= CSNI_ACCEL_BLOCK_MOST || csni_accel_block_fits(accel, at, out);
}

/* One answer. */
struct csni_accel_segment {
    uint32_t node;     /* innermost inlined call; CSNI_ACCEL_NO_NODE, or CSNI_ACCEL_GAP or CSNI_ACCEL_PLAIN */
    uint32_t line;     /* where there is no file: the reason */
    uint32_t file;
    uint32_t function; /* within the block */
};

static inline uint64_t csni_accel_bits(const uint8_t *base, size_t bit) {
    return csni_get64(base + (bit >> 3), false) >> (bit & 7);
}

static CSNI_GSYM_INLINE struct csni_accel_segment csni_accel_segment(const struct csni_gsym_accel *accel,
                                                                     const struct csni_accel_block *b, uint64_t addr) {
    unsigned low = (unsigned)(addr - accel->first) & ((1u << accel->shift) - 1);
    size_t bit = (size_t)csni_accel_count(b->lows, b->last_segment, low) * csni_accel_segment_bits(b);
    uint64_t ids = csni_accel_bits(b->packed, bit);
    uint64_t row = csni_accel_bits(b->packed, bit + b->node_bits + b->function_bits);
    uint64_t node = ids & (((uint64_t)1 << b->node_bits) - 1);
    struct csni_accel_segment s = {
        .function = (uint32_t)(ids >> b->node_bits & (((uint64_t)1 << b->function_bits) - 1)),
        .line = csni_accel_u32(b->at + CSNI_ACCEL_B_LINE) + (uint32_t)(row & (((uint64_t)1 << b->line_bits) - 1)),
        .file = b->file + (uint32_t)(row >> b->line_bits & (((uint64_t)1 << b->file_bits) - 1)),
        .node = CSNI_ACCEL_NO_NODE,
    };
    if (node >= CSNI_ACCEL_NODES) {
        node = (uint64_t)csni_accel_u32(b->at + CSNI_ACCEL_B_NODE) + node - CSNI_ACCEL_NODES;
        s.node = node < accel->node_count ? (uint32_t)node : CSNI_ACCEL_PLAIN;
    } else if (node) {
        s.node = node == CSNI_ACCEL_CODE_GAP ? CSNI_ACCEL_GAP : CSNI_ACCEL_PLAIN;
    }
    if (s.function > b->last_function || s.file >= accel->file_count) s.node = CSNI_ACCEL_PLAIN;
    return s;
}

struct csni_accel_function {
    uint32_t start; /* from the accelerator's first address */
    uint32_t size, name;
    uint32_t index; /* in the address table */
    uint8_t length; /* of the name */
};

/* idx <= last_function */
static inline struct csni_accel_function csni_accel_function(const struct csni_accel_block *b, unsigned idx) {
    const uint8_t *p = b->at + CSNI_ACCEL_BLOCK_HEADER + idx * CSNI_ACCEL_FUNCTION;
    return (struct csni_accel_function){ csni_accel_u32(p), csni_accel_u32(p + 4), csni_accel_u32(p + 8), csni_accel_u32(p + 12),
                                         p[16] };
}

static inline const uint8_t *csni_accel_node(const struct csni_gsym_accel *accel, uint32_t node) {
    return accel->blocks + (size_t)node * accel->node_bytes;
}

static inline uint32_t csni_accel_node_field(const struct csni_gsym_accel *accel, const uint8_t *node, unsigned field) {
    const struct csni_accel_field *f = &accel->fields[field];
    return (uint32_t)(csni_get64(node + f->byte, false) >> f->shift & f->mask);
}

/* Walks the frames of a segment, innermost first. */
struct csni_accel_walk {
    uint64_t rel;            /* address from the function's start */
    uint32_t node;
    uint32_t file, line, reason; /* of the next frame */
    struct csni_accel_function function;
    unsigned length;         /* of the last frame's name */
    unsigned left;           /* inlined calls that may follow */
    bool done;
};

/* Of a segment that is not special. */
static CSNI_GSYM_INLINE struct csni_accel_walk csni_accel_frames(const struct csni_gsym_accel *accel,
                                                                 const struct csni_accel_block *block,
                                                                 const struct csni_accel_segment *segment, uint64_t addr) {
    struct csni_accel_function function = csni_accel_function(block, segment->function);
    return (struct csni_accel_walk){ .rel = addr - accel->first - function.start, .node = segment->node, .file = segment->file,
                                     .line = segment->file ? segment->line : 0,
                                     .reason = segment->file ? CSN_REASON_COMPLETE : segment->line,
                                     .function = function, .left = CSN_INLINE_DEPTH_MAX };
}

/* The frames end with the one that is not inlined. */
static CSNI_GSYM_INLINE void csni_accel_next(const struct csni_gsym_accel *accel, struct csni_accel_walk *walk,
                                             struct csn_frame_ref *out) {
    if (!walk->node || !walk->left) {
        *out = (struct csn_frame_ref){ walk->function.name, walk->rel, walk->file, walk->line, 0, walk->reason };
        walk->length = walk->function.length;
        walk->done = true;
        return;
    }
    const uint8_t *node = csni_accel_node(accel, walk->node);
    *out = (struct csn_frame_ref){ csni_accel_node_field(accel, node, CSNI_ACCEL_F_NAME),
                                   walk->rel - csni_accel_node_field(accel, node, CSNI_ACCEL_F_OFFSET), walk->file, walk->line,
                                   CSN_FRAME_INLINED, walk->reason };
    uint32_t call_file = csni_accel_node_field(accel, node, CSNI_ACCEL_F_FILE);
    uint32_t outer = csni_accel_node_field(accel, node, CSNI_ACCEL_F_PARENT);
    walk->length = csni_accel_node_field(accel, node, CSNI_ACCEL_F_LENGTH);
    walk->reason = csni_gsym_call_reason(call_file, accel->file_count);
    walk->file = walk->reason == CSN_REASON_COMPLETE ? call_file : 0;
    walk->line = csni_accel_node_field(accel, node, CSNI_ACCEL_F_LINE);
    walk->node = outer && outer < walk->node ? walk->node - outer : CSNI_ACCEL_NO_NODE;
    walk->left--;
}

/* The answer of a segment that is not CSNI_ACCEL_PLAIN; of the frames, innermost first, as many as fit. CSN_E_FORMAT: of a
 * function that there is not. */
static CSNI_GSYM_INLINE csn_status csni_accel_answer(const struct csni_gsym_accel *accel,
                                                     const struct csni_accel_block *block,
                                                     const struct csni_accel_segment *segment, uint64_t addr,
                                                     struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out) {
    struct csni_accel_walk walk = csni_accel_frames(accel, block, segment, addr);
    if (walk.function.index >= accel->function_count) return CSN_E_FORMAT;
    *out = (struct csn_lookup){ .function_start = accel->first + walk.function.start, .function_size = walk.function.size,
                                .function_index = walk.function.index, .reason = CSN_REASON_GAP };
    if (segment->node == CSNI_ACCEL_GAP) return CSN_NONE;
    out->reason = walk.reason;
    struct csn_frame_ref ignored;
    size_t count = 0;
    for (; !walk.done; count++) csni_accel_next(accel, &walk, count < cap ? &frames[count] : &ignored);
    out->frame_count = count;
    return CSN_OK;
}

/* The string at that offset, of which the length is known, unless it is long. */
static inline struct csn_str csni_accel_string(const struct csni_gsym *gsym, uint64_t offset, unsigned length) {
    if (offset + length < gsym->strings.size && length != CSNI_ACCEL_LONG)
        return (struct csn_str){ (const char *)gsym->strings.ptr + offset, length };
    return csni_gsym_string(gsym, offset);
}

/* As csni_gsym_file(). */
static inline void csni_accel_file(const struct csni_gsym_accel *accel, const struct csni_gsym *gsym, uint32_t idx,
                                   struct csn_str *directory, struct csn_str *base) {
    if (idx >= accel->file_count) {
        *directory = *base = (struct csn_str){ "", 0 };
        return;
    }
    const uint8_t *file = accel->files + (size_t)idx * CSNI_ACCEL_FILE;
    uint64_t directory_word = csni_get64(file, false), base_word = csni_get64(file + 8, false);
    *directory = csni_accel_string(gsym, directory_word >> 8, directory_word & 0xff);
    *base = csni_accel_string(gsym, base_word >> 8, base_word & 0xff);
}

/* Asks for the lines of a block, or of a node and those before it, where its parents often are. */
static inline void csni_accel_prefetch_block(const struct csni_gsym_accel *accel, const uint8_t *entry) {
    uint64_t at = csni_accel_u32(entry);
    if (at < accel->readable && accel->readable - at >= 2 * 64) csni_prefetch_lines(accel->blocks + at, 2 * 64);
}
static inline void csni_accel_prefetch_node(const struct csni_gsym_accel *accel, uint32_t node) {
    if (node == CSNI_ACCEL_NO_NODE || node >= CSNI_ACCEL_GAP) return;
    const uint8_t *p = csni_accel_node(accel, node);
    csni_prefetch(p);
    if (node * (size_t)accel->node_bytes >= 64) csni_prefetch(p - 64);
}

#endif
