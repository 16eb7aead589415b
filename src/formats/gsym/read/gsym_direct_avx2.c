/* The lookup of a usual record in one go, with AVX2 and BMI2.
 *
 * Half of a lookup's time used to be mispredicted branches: how many functions begin after a checkpoint, which parts a record has,
 * how long numbers are, how many rows precede the address. Here each step decides with masks and counted bits, for
 * up to 64 bytes at a time. A step checks once that all it may read lies within the file; what it does not expect
 * (numbers of many bytes, parts in another order, damage, functions of one start) it leaves to the lookup that takes
 * everything, which begins again. So nothing here reports an error, and both give the same answers. */
#include "formats/gsym/read/gsym_direct.h"

#if CSNI_BYTE_BLOCKS

#include "formats/gsym/gsym_layout.h"

#define AVX2 CSNI_AVX2
#define AVX2_INLINE CSNI_AVX2_INLINE

enum {
    BLOCK = CSNI_BLOCK,
    BLOCK_READ = BLOCK + 16,       /* numbers are read eight bytes at a time from any byte of a block on, two after each other */
    STARTS = 8,                    /* functions after the checkpoint's that are compared at once */
    RECORD_READ = 32,              /* header and first part header, in either version */
    TAIL_READ = 16,                /* a part header at the end of a record */
    RANGE_MAX = 130                /* of the line deltas of a table, see divide() */
};

/* The widths of a version. A constant wherever it is passed, so that nothing is decided by it when a lookup runs. */
struct widths {
    unsigned strp, info;
};

AVX2_INLINE uint64_t load_strp(const uint8_t *p, struct widths w) { return w.strp == 4 ? csni_load32(p) : csni_load64(p); }

/* The first `size` bytes (up to 8) as a LEB128 number. */
AVX2_INLINE uint64_t leb_of(uint64_t bytes, unsigned size) {
    return _pext_u64(_bzhi_u64(bytes, size * 8), 0x7f7f7f7f7f7f7f7f);
}

/* Two LEB128 numbers one after the other, in eight bytes together; size 0: they are longer. */
struct pair {
    uint64_t first, second;
    unsigned size;
};

AVX2_INLINE struct pair load_pair(const uint8_t *p) {
    uint64_t bytes = csni_load64(p), ends = ~bytes & 0x8080808080808080, rest = _blsr_u64(ends);
    unsigned first = (unsigned)_tzcnt_u64(ends) / 8 + 1, both = (unsigned)_tzcnt_u64(rest) / 8 + 1;
    return (struct pair){ leb_of(bytes, first), leb_of(bytes >> (first * 8 & 63), both - first), rest ? both : 0 };
}

/* ---- search ---- */

/* The function of the address: the last one that starts at or below it. False: not known here. */
AVX2_INLINE bool find_function(const struct csni_gsym *gsym, uint32_t known, uint64_t key, uint32_t *idx, uint32_t *start) {
    if (key > UINT32_MAX || (uint64_t)known + 1 + STARTS > gsym->address_count) return false;
    const uint8_t *table = gsym->addresses + (size_t)known * 4;
    __m256i keys = _mm256_set1_epi32((int)(uint32_t)key);
    __m256i starts = _mm256_loadu_si256((const __m256i *)(const void *)(table + 4));
    __m256i up_to = _mm256_cmpeq_epi32(_mm256_max_epu32(starts, keys), keys);
    unsigned after = (unsigned)_tzcnt_u32(~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(up_to)));
    *idx = known + after;
    const uint8_t *own = table + (size_t)after * 4;
    *start = csni_load32(own);
    return after < STARTS && csni_load32(table) <= key && *idx && csni_load32(own - 4) != *start;
}

/* ---- record ---- */

struct record {
    const uint8_t *start;
    const uint8_t *lines, *tree; /* NULL: there is none */
    uint32_t lines_size, tree_size;
};

/* The parts of a record that begin at `p` in it: lines, tree, or neither, in this order. False: there is something else. */
AVX2_INLINE bool find_parts(const uint8_t *p, uint64_t left, struct record *out) {
    uint32_t type = csni_load32(p), size = csni_load32(p + 4);
    out->lines = out->tree = NULL;
    if (type == CSNI_GSYM_PART_END) return size == 0;
    if (type != CSNI_GSYM_PART_LINES || size > left || left - size < CSNI_GSYM_PART_HEADER_SIZE + TAIL_READ) return false;
    out->lines = p + CSNI_GSYM_PART_HEADER_SIZE;
    out->lines_size = size;
    p = out->lines + size;
    left -= size + CSNI_GSYM_PART_HEADER_SIZE;
    type = csni_load32(p);
    size = csni_load32(p + 4);
    if (type == CSNI_GSYM_PART_END) return size == 0;
    if (type != CSNI_GSYM_PART_INLINE || size > left - CSNI_GSYM_PART_HEADER_SIZE) return false;
    out->tree = p + CSNI_GSYM_PART_HEADER_SIZE;
    out->tree_size = size;
    csni_prefetch_lines(out->tree, 4 * BLOCK);
    return true;
}

/* ---- line ---- */

/* One bit a byte, for the bytes of a block. */
struct opcodes {
    uint64_t special, advance;       /* opcodes; operand bytes of ADVANCE_PC */
    uint64_t set_file;               /* opcodes */
    uint64_t line1, line2, line3;    /* operand bytes of ADVANCE_LINE */
    uint64_t negative;               /* operand bytes that end a negative number */
    uint64_t stop, ends;             /* the end of the table, and operands of more bytes; the first alone */
};

/* The state of a table between two rows. */
struct line_state {
    const uint8_t *p, *end;
    const uint8_t *file_at;          /* operand of the last SET_FILE, NULL: before it */
    uint64_t left;                   /* from the row to the address */
    uint32_t line, file;
    uint32_t min, range;
    bool any;                        /* a row has been read */
};

/* Each byte, up to 251, divided by the range, up to RANGE_MAX. With scale = 32768 / range + 1, 2 * v * scale >> 16
 * is v / range: the excess 2 * v * (scale - 32768 / range) / 65536 is at most 502 / 65536, which is less than 1 /
 * range. */
AVX2_INLINE __m256i divide(__m256i v, __m256i scale) {
    __m256i even = _mm256_and_si256(_mm256_add_epi16(v, v), _mm256_set1_epi16(0x1fe));
    __m256i odd = _mm256_and_si256(_mm256_srli_epi16(v, 7), _mm256_set1_epi16(0x1fe));
    return _mm256_or_si256(_mm256_mulhi_epu16(even, scale), _mm256_slli_epi16(_mm256_mulhi_epu16(odd, scale), 8));
}

AVX2_INLINE __m256i sum_bytes(struct csni_block b) {
    __m256i zero = _mm256_setzero_si256();
    return _mm256_add_epi64(_mm256_sad_epu8(b.lo, zero), _mm256_sad_epu8(b.hi, zero));
}

AVX2_INLINE uint32_t total_of(__m256i sums) {
    __m128i t = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return (uint32_t)(_mm_cvtsi128_si32(t) + _mm_extract_epi32(t, 2));
}

/* Each byte with all before it added; 255 stands for that and more. */
AVX2_INLINE __m256i running_sums(__m256i v) {
    v = _mm256_adds_epu8(v, _mm256_slli_si256(v, 1));
    v = _mm256_adds_epu8(v, _mm256_slli_si256(v, 2));
    v = _mm256_adds_epu8(v, _mm256_slli_si256(v, 4));
    v = _mm256_adds_epu8(v, _mm256_slli_si256(v, 8));
    __m256i last = _mm256_shuffle_epi8(v, _mm256_set1_epi8(15));
    return _mm256_adds_epu8(v, _mm256_permute2x128_si256(last, last, 0x08));
}

/* `size`: bytes that are the table's. */
AVX2_INLINE struct opcodes find_opcodes(struct csni_block b, uint64_t size) {
    uint64_t valid = size >= BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1;
    uint64_t file = csni_block_equal(b, CSNI_GSYM_LINE_SET_FILE), pc = csni_block_equal(b, CSNI_GSYM_LINE_ADVANCE_PC);
    uint64_t line = csni_block_equal(b, CSNI_GSYM_LINE_ADVANCE_LINE), zeros = csni_block_equal(b, CSNI_GSYM_LINE_END);
    uint64_t more = csni_block_bits(b.lo, b.hi), operand = file | pc | line;
    uint64_t all = csni_find_opcodes(operand, more) & valid;
    struct opcodes o;
    o.special = all & ~(operand | zeros);
    o.advance = (all & pc) << 1 & valid;
    o.set_file = all & file;
    o.line1 = (all & line) << 1;
    o.line2 = (o.line1 & more) << 1;
    o.line3 = (o.line2 & more) << 1;
    o.negative = csni_block_bits(_mm256_slli_epi16(b.lo, 1), _mm256_slli_epi16(b.hi, 1));
    o.ends = all & zeros;
    o.stop = o.ends | ((o.advance | o.line3) & more);
    return o;
}

/* The line deltas of the opcodes that `keep` selects. */
AVX2_INLINE uint32_t line_deltas(const struct line_state *s, struct csni_block bytes, struct csni_block deltas,
                                 struct csni_block quotients, const struct opcodes *o, uint64_t keep) {
    uint64_t special = o->special & keep, line1 = o->line1 & keep, line2 = o->line2 & keep, line3 = o->line3 & keep;
    uint32_t plain = s->min * (uint32_t)_mm_popcnt_u64(special);
    __m256i q = sum_bytes(csni_block_select(quotients, special));
    __m256i sums = _mm256_sub_epi64(sum_bytes(csni_block_select(deltas, special)),
                                    _mm256_mul_epu32(q, _mm256_set1_epi64x(s->range)));
    if (line1) {
        __m256i seven = _mm256_set1_epi8(0x7f);
        struct csni_block low = { _mm256_and_si256(bytes.lo, seven), _mm256_and_si256(bytes.hi, seven) };
        sums = _mm256_add_epi64(sums, sum_bytes(csni_block_select(low, line1)));
        sums = _mm256_add_epi64(sums, _mm256_slli_epi64(sum_bytes(csni_block_select(low, line2)), 7));
        if (line3) sums = _mm256_add_epi64(sums, _mm256_slli_epi64(sum_bytes(csni_block_select(low, line3)), 14));
        uint64_t more = csni_block_bits(bytes.lo, bytes.hi), negative = o->negative & ~more;
        plain -= (uint32_t)_mm_popcnt_u64(line1 & negative) << 7;
        plain -= (uint32_t)_mm_popcnt_u64(line2 & negative) << 14;
        plain -= (uint32_t)_mm_popcnt_u64(line3 & negative) << 21;
    }
    return plain + total_of(sums);
}

/* The last row at or below the address, from `s` on. False: not known here. */
AVX2_INLINE bool find_row(struct line_state *s, const uint8_t *readable) {
    const __m256i scale = _mm256_set1_epi16((short)(32768 / s->range + 1)), four = _mm256_set1_epi8(CSNI_GSYM_LINE_FIRST_SPECIAL);
    for (;;) {
        if (s->p >= s->end || readable - s->p < BLOCK_READ) return false;
        struct csni_block b = csni_block_load(s->p);
        struct opcodes o = find_opcodes(b, (uint64_t)(s->end - s->p));
        uint64_t inside = (o.stop & (0 - o.stop)) - 1; /* the bytes before it */
        uint64_t rows = (o.special | o.advance) & inside;
        struct csni_block deltas = { _mm256_subs_epu8(b.lo, four), _mm256_subs_epu8(b.hi, four) };
        struct csni_block quotients = { divide(deltas.lo, scale), divide(deltas.hi, scale) };
        struct csni_block special = csni_block_select(quotients, o.special & inside),
                          plain = csni_block_select(b, o.advance & inside);
        struct csni_block advances = { _mm256_or_si256(special.lo, plain.lo), _mm256_or_si256(special.hi, plain.hi) };
        uint32_t low = total_of(_mm256_sad_epu8(advances.lo, _mm256_setzero_si256()));
        uint32_t total = low + total_of(_mm256_sad_epu8(advances.hi, _mm256_setzero_si256()));
        bool beyond = total > s->left, last = beyond || (o.ends & (inside + 1));
        uint64_t within = ~(uint64_t)0;
        if (last) {
            bool high = low <= s->left;
            uint64_t most = s->left - (high ? low : 0);
            if (beyond && most >= 255) return false;
            __m256i sums = running_sums(high ? advances.hi : advances.lo);
            __m256i bound = _mm256_set1_epi8((char)(most < 255 ? most : 255));
            uint32_t half = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(sums, bound), sums));
            within = high ? UINT32_MAX | (uint64_t)half << 32 : half;
        } else if (o.stop || !rows) {
            return false;
        }
        rows &= within;
        uint64_t size = BLOCK - csni_leading_zeros(rows), keep = _bzhi_u64(~(uint64_t)0, (unsigned)size);
        s->line += line_deltas(s, b, deltas, quotients, &o, keep);
        if (o.set_file & keep) s->file_at = s->p + (BLOCK - csni_leading_zeros(o.set_file & keep));
        s->any |= rows != 0;
        if (last) return s->any;
        s->p += size;
        s->left -= total;
    }
}

/* Before the first row, if numbers are short. */
AVX2_INLINE bool begin_lines(const struct record *r, uint64_t left, struct line_state *out) {
    uint64_t bytes = csni_load64(r->lines), ends = ~bytes & 0x8080808080800000;
    int min = (int8_t)(uint8_t)(bytes << 1) >> 1, max = (int8_t)(uint8_t)(bytes >> 7) >> 1;
    unsigned size = (unsigned)_tzcnt_u64(ends) / 8 + 1;
    *out = (struct line_state){ .p = r->lines + size, .end = r->lines + r->lines_size, .left = left,
                                .line = (uint32_t)leb_of(bytes >> 16, size - 2), .file = CSNI_GSYM_LINE_FIRST_FILE,
                                .min = (uint32_t)min, .range = (uint32_t)(max - min + 1) };
    return !(bytes & 0x8080) && ends && max >= min && max - min < RANGE_MAX;
}

/* The number of the row's file. False: it is long. */
AVX2_INLINE bool file_of_row(const struct line_state *s, uint32_t *out) {
    uint32_t bytes = s->file_at ? csni_load32(s->file_at) : s->file, ends = ~bytes & 0x80808080;
    *out = s->file_at ? (uint32_t)leb_of(bytes, (unsigned)_tzcnt_u32(ends) / 8 + 1) : s->file;
    return ends || !s->file_at;
}

/* ---- inlined calls ---- */

/* A search on its way. */
struct call_search {
    const struct csni_gsym *gsym;
    struct csni_gsym_calls *calls;
    uint64_t base, off;              /* what the ranges of the nodes count from, and the address from there */
};

/* A node up to its call. */
struct head {
    uint64_t first;                  /* lowest start of a range that is not empty */
    bool covers;
};

/* The ranges of a node whose numbers begin at `p`. False: one is long. */
AVX2_INLINE bool load_ranges(const uint8_t *p, unsigned count, uint64_t off, struct head *out, unsigned *out_size) {
    struct pair range = load_pair(p);
    unsigned at = range.size;
    bool any = range.second != 0;
    *out = (struct head){ any ? range.first : 0, off - range.first < range.second };
    if (!range.size) return false;
    while (--count) {
        range = load_pair(p + at);
        if (!range.size) return false;
        at += range.size;
        if (range.second && (!any || range.first < out->first)) out->first = range.first;
        any |= range.second != 0;
        out->covers |= off - range.first < range.second;
    }
    *out_size = at;
    return true;
}

/* Takes the call of a node that covers the address; `p`: its byte after the ranges, `call`: its two numbers. False: too many. */
AVX2_INLINE bool take_call(struct call_search *s, const struct head *head, const uint8_t *p, struct pair call, struct widths w) {
    struct csni_gsym_calls *calls = s->calls;
    s->base += head->first;
    s->off -= head->first;
    struct csni_gsym_inlined taken = { s->base, load_strp(p + 1, w), (uint32_t)call.first, (uint32_t)call.second };
    csni_gsym_prefetch_string(s->gsym, taken.name);
    if (taken.call_file < s->gsym->file_count) csni_prefetch(csni_gsym_file_entry(s->gsym, taken.call_file));
    if (calls->count == CSNI_GSYM_CALLS_HELD) return false;
    calls->held[calls->count] = taken;
    calls->count += taken.call_file || taken.call_line || taken.name;
    return true;
}

/* The call whose node is at `at` in the tree. False: it does not cover the address, or is long, or near the end of the file. */
AVX2_INLINE bool take_enclosing(struct call_search *s, const struct record *r, uint32_t at, struct widths w) {
    enum { RANGES = 3, MOST = 2 + RANGES * 8 + CSNI_GSYM_2_STRP_SIZE + 8 };
    struct head head;
    unsigned size;
    if (at >= r->tree_size) return false;
    const uint8_t *p = r->tree + at, *readable = s->gsym->bytes.ptr + s->gsym->bytes.size;
    if (readable - p < MOST || p[0] == 0 || p[0] > RANGES) return false;
    if (!load_ranges(p + 1, p[0], s->off, &head, &size) || !head.covers) return false;
    struct pair call = load_pair(p + 2 + size + w.strp);
    if (!call.size || 2 + size + w.strp + call.size > r->tree_size - at) return false;
    return take_call(s, &head, p + 1 + size, call, w);
}

/* The nodes of the list that begins at `p` and ends before `end`, and the lists in those that cover the address. `open`: the list
 * need have no end mark. False: not known here. */
AVX2_INLINE bool find_calls(struct call_search *s, const uint8_t *p, const uint8_t *end, bool open, struct widths w) {
    const uint8_t *readable = s->gsym->bytes.ptr + s->gsym->bytes.size;
    uint64_t depth = 0;
    for (;;) {
        if (p == end) return open && !depth;
        if (readable - p < BLOCK_READ) return false;
        struct csni_block b = csni_block_load(p);
        uint64_t left = (uint64_t)(end - p), valid = left >= BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
        uint64_t all_ends = ~csni_block_bits(b.lo, b.hi) & valid, zeros = csni_block_equal(b, 0) & valid;
        unsigned pos = 0;
        for (;;) {
            unsigned marks = pos < BLOCK ? (unsigned)_tzcnt_u64(~(zeros >> pos)) : 0;
            if (marks > depth) return true;
            depth -= marks;
            pos += marks;
            /* A node; `after` is where its numbers end, none of them where it leaves the block. */
            unsigned count = pos < BLOCK ? p[pos] : BLOCK;
            uint64_t ends = pos < BLOCK ? all_ends >> pos : 0;
            unsigned last = (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << (2 * count & 63), ends)), flag = pos + last + 1;
            unsigned call = flag + 1 + w.strp;
            uint64_t after = call < BLOCK ? _blsr_u64(all_ends >> call) : 0;
            if (after == 0 || count >= BLOCK / 2) break;
            unsigned next = call + (unsigned)_tzcnt_u64(after) + 1;
            bool children = p[flag] != 0;
            if (depth == 0) {
                struct head head;
                unsigned size;
                if (!load_ranges(p + pos + 1, count, s->off, &head, &size)) return false;
                if (head.covers) {
                    struct pair numbers = load_pair(p + call);
                    if (!numbers.size || !take_call(s, &head, p + flag, numbers, w)) return false;
                    if (!children) return true;
                    open = false;
                    pos = next;
                    continue;
                }
            }
            depth += children;
            pos = next;
        }
        if (pos == 0) return false;
        p += pos;
    }
}

/* The calls by the checkpoint of the address. */
AVX2_INLINE bool find_calls_from(struct call_search *s, const struct record *r, const uint8_t *entry, struct widths w) {
    const struct csni_gsym_checkpoints *c = &s->gsym->checkpoints;
    uint32_t at = csni_checkpoint_get(entry, &c->fields[CSNI_CP_TREE_AT]);
    uint32_t size = csni_checkpoint_get(entry, &c->fields[CSNI_CP_TREE_SIZE]);
    struct csni_checkpoint_calls around = { .count = 0 };
    const uint8_t *p = r->start + at; /* which is known before the tree is */
    if (at != CSNI_CP_TREE_EMPTY || size) {
        uint64_t before = (uint64_t)(p - r->tree);
        if (before > r->tree_size || size > r->tree_size - before) return false;
        csni_prefetch_lines(p, 4 * BLOCK);
    }
    if (csni_checkpoint_get(entry, &c->fields[CSNI_CP_CALL]) && !csni_checkpoint_calls(c, entry, &around)) return false;
    for (unsigned k = 0; k < around.count; k++)
        if (!take_enclosing(s, r, around.at[k], w)) return false;
    return find_calls(s, p, p + size, true, w);
}

/* The calls from the root on, which stands for the function. */
AVX2_INLINE bool find_calls_below_root(struct call_search *s, const struct record *r, struct widths w) {
    struct head head;
    unsigned size;
    if (s->gsym->bytes.ptr + s->gsym->bytes.size - r->tree < BLOCK || r->tree_size < 2 || r->tree[0] != 1) return false;
    if (!load_ranges(r->tree + 1, 1, s->off, &head, &size) || !head.covers) return false;
    struct pair call = load_pair(r->tree + 2 + size + w.strp);
    unsigned all = 2 + size + w.strp + call.size;
    if (!call.size || call.first || all > r->tree_size || !r->tree[1 + size]) return false;
    s->base += head.first;
    s->off -= head.first;
    return find_calls(s, r->tree + all, r->tree + r->tree_size, false, w);
}

/* ---- all of it ---- */

AVX2_INLINE bool find_calls_of(const struct csni_gsym *gsym, const struct record *r, const uint8_t *entry,
                               struct csni_gsym_answer *out, struct widths w) {
    struct call_search s = { gsym, &out->calls, out->start, out->addr - out->start };
    if (entry && csni_checkpoint_get(entry, &gsym->checkpoints.fields[CSNI_CP_TREE_AT])) return find_calls_from(&s, r, entry, w);
    return find_calls_below_root(&s, r, w);
}

/* The row, from the checkpoint on if it is the function's. */
AVX2_INLINE bool find_line(const struct csni_gsym *gsym, const struct record *r, const uint8_t *entry,
                           struct csni_gsym_answer *out) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    struct line_state s;
    if (!begin_lines(r, out->addr - out->start, &s)) return false;
    uint32_t at = entry ? csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE_AT]) : 0;
    if (at && at < r->lines_size) {
        s.p = r->lines + at;
        s.left = out->addr - csni_checkpoint_address(c, out->addr) + csni_checkpoint_get(entry, &c->fields[CSNI_CP_BACK]);
        s.line = csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE]);
        s.file = csni_checkpoint_get(entry, &c->fields[CSNI_CP_FILE]);
        s.any = true;
    }
    if (!find_row(&s, gsym->bytes.ptr + gsym->bytes.size) || !file_of_row(&s, &out->file)) return false;
    out->line = s.line;
    return out->file && out->file < gsym->file_count;
}

/* Asks for the record that the checkpoint names, and what of it a lookup reads, before the search has proven that it
 * is the right one. */
AVX2_INLINE void prefetch_likely(const struct csni_gsym *gsym, uint64_t record, const uint8_t *entry, struct widths w) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    if (record >= gsym->records.size) return;
    const uint8_t *p = gsym->records.ptr + record;
    csni_prefetch_lines(p, 4 * BLOCK);
    csni_prefetch_lines(p + csni_checkpoint_get(entry, &c->fields[CSNI_CP_TREE_AT]), 6 * BLOCK);
    p += 4 + w.strp + CSNI_GSYM_PART_HEADER_SIZE; /* where lines begin, if they are the first part */
    csni_prefetch_lines(p + csni_checkpoint_get(entry, &c->fields[CSNI_CP_LINE_AT]), 2 * BLOCK);
}

AVX2_INLINE bool look_up(const struct csni_gsym *gsym, uint64_t addr, struct widths w, struct csni_gsym_answer *out) {
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    size_t number;
    if (!csni_checkpoint_number(c, addr, &number) || addr < gsym->base_address) return false;
    const uint8_t *entry = csni_checkpoint_entry(c, number);
    csni_prefetch(entry);
    struct csni_checkpoint_place place = csni_checkpoint_place(c, number);
    uint32_t known = place.function, start;
    uint64_t key = addr - gsym->base_address;
    csni_prefetch(gsym->infos + (size_t)known * w.info);
    prefetch_likely(gsym, place.record, entry, w);
    if (!find_function(gsym, known, key, &out->idx, &start)) return false;
    if (out->idx != known || !place.record) entry = NULL;
    const uint8_t *info = gsym->infos + (size_t)out->idx * w.info;
    uint64_t at = w.info == 4 ? csni_load32(info) : csni_load64(info);
    if (at > gsym->records.size || gsym->records.size - at < RECORD_READ || (entry && at != place.record)) return false;
    const uint8_t *p = gsym->records.ptr + at;
    struct record record = { .start = p };
    csni_prefetch_lines(p, 4 * BLOCK);
    out->addr = addr;
    out->start = gsym->base_address + start;
    out->size = csni_load32(p);
    out->name = load_strp(p + 4, w);
    out->calls.count = out->calls.end = 0;
    csni_gsym_prefetch_string(gsym, out->name);
    if (out->size && key - start >= out->size) return false;
    if (!find_parts(p + 4 + w.strp, gsym->records.size - at - 4 - w.strp - CSNI_GSYM_PART_HEADER_SIZE, &record)) return false;
    out->reason = record.lines ? CSN_REASON_COMPLETE : CSN_REASON_NO_LINE_TABLE;
    out->file = out->line = 0;
    /* Calls first: their names, far apart, come while the row is found. */
    if (record.tree && !find_calls_of(gsym, &record, entry, out, w)) return false;
    if (record.lines && !find_line(gsym, &record, entry, out)) return false;
    out->calls.end = out->calls.count;
    return true;
}

AVX2 static bool look_up_v1(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out) {
    return look_up(gsym, addr, (struct widths){ CSNI_GSYM_STRP_SIZE, CSNI_GSYM_INFO_OFFSET_SIZE }, out);
}

AVX2 static bool look_up_v2(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out) {
    return look_up(gsym, addr, (struct widths){ CSNI_GSYM_2_STRP_SIZE, CSNI_GSYM_2_INFO_OFFSET_SIZE }, out);
}

bool csni_gsym_lookup_direct(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out) {
    return gsym->version == CSNI_GSYM_VERSION_1 ? look_up_v1(gsym, addr, out) : look_up_v2(gsym, addr, out);
}

#endif
