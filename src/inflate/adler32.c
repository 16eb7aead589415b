/* Adler-32: a is the sum of all bytes, b that of all values a had, each modulo 65521. */
#include "inflate/adler32.h"

#include "base/core/byte_blocks.h"

enum { MODULUS = 65521, PART = 5504 /* bytes that 32 bits hold the sums of; a multiple of 64 */ };

static void add_bytes(uint32_t *a, uint32_t *b, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        *a += bytes[i];
        *b += *a;
    }
}

#if CSNI_BYTE_BLOCKS
CSNI_AVX2_INLINE uint32_t sum_of(__m256i v) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

/* `size`: a multiple of 64, at most PART. Each byte counts in b as often as bytes follow it, itself included: 32 to 1 times within
 * its own vector, and 32 times for each vector that follows. Of two vectors, 16 bits hold the weighed pairs: 2 * 255
 * * (32 + 31). */
CSNI_AVX2 static void add_vectors(uint32_t *a, uint32_t *b, const uint8_t *bytes, size_t size) {
    const __m256i times = _mm256_setr_epi8(32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14,
                                           13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi16(1);
    __m256i sums = zero, before = zero, weighed = zero;
    for (size_t i = 0; i < size; i += 64) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i));
        __m256i next = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i + 32));
        __m256i sum = _mm256_sad_epu8(v, zero),
                pairs = _mm256_add_epi16(_mm256_maddubs_epi16(v, times), _mm256_maddubs_epi16(next, times));
        before = _mm256_add_epi32(before, _mm256_add_epi32(_mm256_add_epi32(sums, sums), sum));
        sums = _mm256_add_epi32(sums, _mm256_add_epi32(sum, _mm256_sad_epu8(next, zero)));
        weighed = _mm256_add_epi32(weighed, _mm256_madd_epi16(pairs, one));
    }
    *b += *a * (uint32_t)size + 32 * sum_of(before) + sum_of(weighed);
    *a += sum_of(sums);
}
#endif

uint32_t csni_adler32(uint32_t sum, const uint8_t *bytes, size_t size) {
    uint32_t a = sum & 0xffff, b = sum >> 16;
    while (size) {
        size_t part = size < PART ? size : PART, done = 0;
#if CSNI_BYTE_BLOCKS
        if (csni_has_byte_blocks()) {
            done = part & ~(size_t)63;
            add_vectors(&a, &b, bytes, done);
        }
#endif
        add_bytes(&a, &b, bytes + done, part - done);
        a %= MODULUS;
        b %= MODULUS;
        bytes += part;
        size -= part;
    }
    return b << 16 | a;
}
