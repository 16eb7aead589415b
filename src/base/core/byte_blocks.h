/* Blocks of 64 bytes as vectors and as masks of 64 bits, with AVX2: what scans of opcode streams share.
 *
 * Where the opcodes are is a matter of two states, "opcode" and "operand", and of three kinds of bytes:
 *   some opcodes below 128 change the state: an opcode with an operand begins, or an operand of one byte (or its last) ends
 *   all other bytes below 128 lead to "opcode" from either: an opcode without operand, or the end of an operand
 *   128..255 leave the state: an opcode without operand, or the middle of an operand
 * So the state is the parity of the first kind since the last byte of the second kind: a prefix XOR, and an addition whose
 * carries run from each byte of the second kind to the next. */
#ifndef CSNI_BYTE_BLOCKS_H
#define CSNI_BYTE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* CSNI_PORTABLE: the plain loops alone, to test and measure them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CSNI_PORTABLE)
#define CSNI_BYTE_BLOCKS 1

#include <immintrin.h>

/* csni_has_byte_blocks() checks each instruction set of the attribute: emulators and hypervisors may hide single ones.
 * Older versions of clang cannot check for lzcnt. */
#if defined(__clang__) && __clang_major__ < 19
#define CSNI_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,pclmul")))
#else
#define CSNI_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul")))
#endif
#define CSNI_AVX2_INLINE static inline __attribute__((always_inline)) CSNI_AVX2

/* 64: no bit is set. */
CSNI_AVX2_INLINE uint64_t csni_leading_zeros(uint64_t v) {
#if defined(__clang__) && __clang_major__ < 19
    return v ? (uint64_t)__builtin_clzll(v) : 64;
#else
    return _lzcnt_u64(v);
#endif
}

/* Little-endian numbers at any place. */
CSNI_AVX2_INLINE uint64_t csni_load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

CSNI_AVX2_INLINE uint32_t csni_load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Found out once, by the first who wants to know; until then 0. */
enum { CSNI_BYTE_BLOCKS_NONE = 1, CSNI_BYTE_BLOCKS_USABLE };
extern int csni_byte_blocks_found;
int csni_find_byte_blocks(void);
static inline bool csni_has_byte_blocks(void) {
    int found = __atomic_load_n(&csni_byte_blocks_found, __ATOMIC_RELAXED);
    return (found ? found : csni_find_byte_blocks()) == CSNI_BYTE_BLOCKS_USABLE;
}

enum { CSNI_BLOCK = 64 };

struct csni_block {
    __m256i lo, hi;
};

CSNI_AVX2_INLINE struct csni_block csni_block_load(const uint8_t *p) {
    return (struct csni_block){ _mm256_loadu_si256((const __m256i *)(const void *)p),
                                _mm256_loadu_si256((const __m256i *)(const void *)(p + CSNI_BLOCK / 2)) };
}

/* The highest bit of each byte. */
CSNI_AVX2_INLINE uint64_t csni_block_bits(__m256i lo, __m256i hi) {
    return (uint32_t)_mm256_movemask_epi8(lo) | (uint64_t)(uint32_t)_mm256_movemask_epi8(hi) << 32;
}

/* The bytes that the mask selects; 0 elsewhere. */
CSNI_AVX2_INLINE struct csni_block csni_block_select(struct csni_block b, uint64_t mask) {
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                            2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    __m256i all = _mm256_set1_epi64x((long long)mask);
    __m256i lo = _mm256_and_si256(_mm256_shuffle_epi8(all, spread), bits);
    __m256i hi = _mm256_and_si256(_mm256_shuffle_epi8(all, _mm256_add_epi8(spread, _mm256_set1_epi8(4))), bits);
    return (struct csni_block){ _mm256_and_si256(b.lo, _mm256_cmpeq_epi8(lo, bits)),
                                _mm256_and_si256(b.hi, _mm256_cmpeq_epi8(hi, bits)) };
}

CSNI_AVX2_INLINE uint64_t csni_block_equal(struct csni_block b, uint8_t value) {
    __m256i v = _mm256_set1_epi8((char)value);
    return csni_block_bits(_mm256_cmpeq_epi8(b.lo, v), _mm256_cmpeq_epi8(b.hi, v));
}

CSNI_AVX2_INLINE uint64_t csni_block_at_least(struct csni_block b, uint8_t value) {
    __m256i v = _mm256_set1_epi8((char)value);
    return csni_block_bits(_mm256_cmpeq_epi8(_mm256_max_epu8(b.lo, v), b.lo),
                           _mm256_cmpeq_epi8(_mm256_max_epu8(b.hi, v), b.hi));
}

/* Bit i: the XOR of bits 0..i. */
CSNI_AVX2_INLINE uint64_t csni_prefix_xor(uint64_t v) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)v), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The bytes at which an opcode begins; the first does. `operand` are bytes that are opcodes with an operand, if they are
 * opcodes; `more` bytes above 127. */
CSNI_AVX2_INLINE uint64_t csni_find_opcodes(uint64_t operand, uint64_t more) {
    uint64_t parity = csni_prefix_xor(operand);
    uint64_t keeping = operand | more;
    uint64_t seed = ((parity & ~keeping) << 1) & keeping;
    uint64_t wrong = ((keeping + seed) ^ keeping) & keeping; /* parity counts those before the last reset too */
    uint64_t inside = (parity ^ wrong) & keeping;
    return ~(inside << 1);
}

#else
#define CSNI_BYTE_BLOCKS 0
static inline bool csni_has_byte_blocks(void) { return false; }
#endif

#endif
