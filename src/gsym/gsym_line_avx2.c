/* The line scan with AVX2: 64 bytes of opcodes at a time, all of them at once.
 *
 * Where the opcodes are is a matter of two states, "opcode" and "operand", and of three kinds of bytes:
 *   1, 2, 3      change the state: an opcode with an operand begins, or an operand of one byte (or its last) ends
 *   0, 4..127    lead to "opcode" from either: a special opcode, or the end of an operand
 *   128..255     leave the state: a special opcode, or the middle of an operand
 * So the state is the parity of the first kind since the last byte of the second kind: a prefix XOR, and an addition whose
 * carries run from each byte of the second kind to the next. Addresses and lines are then sums over the bytes that a mask
 * selects. A block ends behind its last row, so that no state but that of a row passes from one block to the next.
 *
 * Measured on the line tables of vmlinux and ceph-osd (5 bytes a row, half of the opcodes with operands, hence one branch
 * misprediction a row for a plain loop): 5 to 8 times as fast as that loop. */
#include "gsym/gsym_line_scan.h"

#if CSNI_LINE_SCAN_AVX2

#include <immintrin.h>
#include <string.h>

#include "gsym/gsym_layout.h"

#define AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul")))
#define AVX2_INLINE static inline __attribute__((always_inline)) AVX2

enum { BLOCK = 64 };

struct block {
    __m256i lo, hi;
};

/* One bit a byte, for the bytes of a block. */
struct masks {
    uint64_t special, set_file;      /* opcodes */
    uint64_t advance;                /* the operand byte of ADVANCE_PC */
    uint64_t line1, line2, line3;    /* operand bytes of ADVANCE_LINE */
    uint64_t negative;               /* operand bytes that end a negative number */
};

AVX2_INLINE uint64_t to_bits(__m256i lo, __m256i hi) {
    return (uint32_t)_mm256_movemask_epi8(lo) | (uint64_t)(uint32_t)_mm256_movemask_epi8(hi) << 32;
}

AVX2_INLINE uint64_t bytes_equal(struct block b, char value) {
    __m256i v = _mm256_set1_epi8(value);
    return to_bits(_mm256_cmpeq_epi8(b.lo, v), _mm256_cmpeq_epi8(b.hi, v));
}

/* The bytes that the mask selects; 0 elsewhere. */
AVX2_INLINE struct block select_bytes(struct block b, uint64_t mask) {
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                            2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    __m256i all = _mm256_set1_epi64x((long long)mask);
    __m256i lo = _mm256_and_si256(_mm256_shuffle_epi8(all, spread), bits);
    __m256i hi = _mm256_and_si256(_mm256_shuffle_epi8(all, _mm256_add_epi8(spread, _mm256_set1_epi8(4))), bits);
    return (struct block){ _mm256_and_si256(b.lo, _mm256_cmpeq_epi8(lo, bits)),
                           _mm256_and_si256(b.hi, _mm256_cmpeq_epi8(hi, bits)) };
}

AVX2_INLINE uint32_t sum(struct block b) {
    __m256i zero = _mm256_setzero_si256();
    __m256i s = _mm256_add_epi64(_mm256_sad_epu8(b.lo, zero), _mm256_sad_epu8(b.hi, zero));
    __m128i t = _mm_add_epi64(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
    return (uint32_t)(_mm_cvtsi128_si32(t) + _mm_extract_epi32(t, 2));
}

/* Each byte divided by the range: `scale` is 65536 / range + 1, exact for bytes up to 251. */
AVX2_INLINE __m256i divide(__m256i v, __m256i scale) {
    __m256i even = _mm256_mulhi_epu16(_mm256_and_si256(v, _mm256_set1_epi16(0xff)), scale);
    __m256i odd = _mm256_mulhi_epu16(_mm256_srli_epi16(v, 8), scale);
    return _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
}

/* Bit i: the XOR of bits 0..i. */
AVX2_INLINE uint64_t prefix_xor(uint64_t v) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)v), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The bytes at which an opcode begins; the first does. `operand` are bytes 1..3, `more` bytes above 127. */
AVX2_INLINE uint64_t find_opcodes(uint64_t operand, uint64_t more) {
    uint64_t parity = prefix_xor(operand);
    uint64_t keeping = operand | more;
    uint64_t seed = ((parity & ~keeping) << 1) & keeping;
    uint64_t wrong = ((keeping + seed) ^ keeping) & keeping; /* parity counts a 1..3 before the last reset too */
    uint64_t inside = (parity ^ wrong) & keeping;
    return ~(inside << 1);
}

/* Bits up to and with the highest of `v`, which is not 0. */
AVX2_INLINE uint64_t up_to_highest(uint64_t v) { return ~(uint64_t)0 >> _lzcnt_u64(v); }

/* Bits below the lowest of `v`; all where it is 0. */
AVX2_INLINE uint64_t below_lowest(uint64_t v) { return (v & (0 - v)) - 1; }

AVX2_INLINE struct masks cut(struct masks m, uint64_t keep) {
    return (struct masks){ m.special & keep, m.set_file & keep, m.advance & (keep << 1 | keep), m.line1 & keep,
                           m.line2 & keep, m.line3 & keep, m.negative };
}

/* The line deltas of the selected opcodes. */
AVX2_INLINE uint32_t sum_lines(const struct csni_line_scan *scan, struct block bytes, struct block deltas,
                               struct block quotients, const struct masks *m) {
    uint32_t special = scan->min * (uint32_t)_mm_popcnt_u64(m->special) + sum(select_bytes(deltas, m->special)) -
                       (uint32_t)scan->range * sum(select_bytes(quotients, m->special));
    __m256i seven = _mm256_set1_epi8(0x7f);
    struct block low = { _mm256_and_si256(bytes.lo, seven), _mm256_and_si256(bytes.hi, seven) };
    uint32_t line = sum(select_bytes(low, m->line1)) - ((uint32_t)_mm_popcnt_u64(m->line1 & m->negative) << 7);
    if (m->line2)
        line += (sum(select_bytes(low, m->line2)) << 7) - ((uint32_t)_mm_popcnt_u64(m->line2 & m->negative) << 14);
    if (m->line3)
        line += (sum(select_bytes(low, m->line3)) << 14) - ((uint32_t)_mm_popcnt_u64(m->line3 & m->negative) << 21);
    return special + line;
}

/* The highest bit of `positions` up to which the advances sum to `left` at most, and everything below; 0 for none.
 * *sum_out is their sum. */
AVX2_INLINE uint64_t rows_within(struct block advances, uint64_t positions, uint64_t left, uint64_t *sum_out) {
    uint8_t values[BLOCK];
    _mm256_storeu_si256((__m256i *)(void *)values, advances.lo);
    _mm256_storeu_si256((__m256i *)(void *)(values + BLOCK / 2), advances.hi);
    uint64_t total = 0, keep = 0;
    for (; positions; positions &= positions - 1) {
        uint64_t next = total + values[_tzcnt_u64(positions)];
        if (next > left) break;
        total = next;
        keep = positions ^ (positions - 1); /* the lowest bit and all below */
    }
    *sum_out = total;
    return keep;
}

AVX2 bool csni_line_scan_avx2(struct csni_line_scan *scan, uint64_t addr) {
    /* With a range of 1 the scale would not fit in 16 bits. */
    if (scan->range == 1) return false;
    const __m256i scale = _mm256_set1_epi16((short)(65536 / scan->range + 1));
    const __m256i four = _mm256_set1_epi8(CSNI_GSYM_LINE_FIRST_SPECIAL);
    for (;;) {
        const uint8_t *src = scan->p;
        uint8_t tail[BLOCK];
        if (scan->readable - src < BLOCK) {
            memset(tail, 0, sizeof tail);
            memcpy(tail, src, (size_t)(scan->readable - src));
            src = tail;
        }
        struct block b = { _mm256_loadu_si256((const __m256i *)(const void *)src),
                           _mm256_loadu_si256((const __m256i *)(const void *)(src + BLOCK / 2)) };
        uint64_t size = (uint64_t)(scan->end - scan->p);
        uint64_t valid = size >= BLOCK ? ~(uint64_t)0 : ((uint64_t)1 << size) - 1;

        uint64_t more = to_bits(b.lo, b.hi);
        uint64_t zeros = bytes_equal(b, CSNI_GSYM_LINE_END), files = bytes_equal(b, CSNI_GSYM_LINE_SET_FILE);
        uint64_t pcs = bytes_equal(b, CSNI_GSYM_LINE_ADVANCE_PC), lines = bytes_equal(b, CSNI_GSYM_LINE_ADVANCE_LINE);
        uint64_t opcodes = find_opcodes(files | pcs | lines, more) & valid;

        struct masks m;
        m.special = opcodes & ~(zeros | files | pcs | lines);
        m.set_file = opcodes & files;
        uint64_t pc_ops = opcodes & pcs;
        m.advance = pc_ops << 1;
        m.line1 = (opcodes & lines) << 1;
        m.line2 = (m.line1 & more) << 1;
        m.line3 = (m.line2 & more) << 1;
        m.negative = to_bits(_mm256_slli_epi16(b.lo, 1), _mm256_slli_epi16(b.hi, 1)) & ~more;

        /* What ends this block early: the end of the table, and operands too long for the sums below. */
        uint64_t end_ops = opcodes & zeros;
        uint64_t long_operands = (pc_ops & more >> 1) | (m.line3 & more);
        uint64_t inside = below_lowest(end_ops | long_operands);
        uint64_t rows = (m.special | (pc_ops & valid >> 1)) & inside;
        bool at_end = end_ops && !(long_operands & below_lowest(end_ops));
        if (!rows) return at_end;

        struct block deltas = { _mm256_subs_epu8(b.lo, four), _mm256_subs_epu8(b.hi, four) };
        struct block quotients = { divide(deltas.lo, scale), divide(deltas.hi, scale) };
        m = cut(m, up_to_highest(rows));
        struct block special = select_bytes(quotients, m.special), plain = select_bytes(b, m.advance);
        struct block advances = { _mm256_or_si256(special.lo, plain.lo), _mm256_or_si256(special.hi, plain.hi) };
        uint64_t advance = sum(advances), left = addr - scan->addr;
        bool found = advance > left;
        if (found) {
            uint64_t keep = rows_within(advances, m.special | m.advance, left, &advance);
            if (!keep) return true;
            m = cut(m, keep);
        }
        scan->line += sum_lines(scan, b, deltas, quotients, &m);
        scan->addr += advance;
        scan->any = true;
        if (m.set_file) scan->file_at = scan->p + 64 - _lzcnt_u64(m.set_file);
        if (found || at_end) return true;
        uint64_t last = 63 - _lzcnt_u64(rows);
        scan->p += last + 1 + (pc_ops >> last & 1);
    }
}

#endif
