/* Encoding line tables with AVX2: 16 rows at a time for choosing the window, of five windows at once, and 8 at a time for
 * the bytes of rows. */
#include "formats/gsym/write/gsym_line_window.h"

#if CSNI_BYTE_BLOCKS

CSNI_AVX2_INLINE __m256i load(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }

/* Lanes of the three vectors of 8 rows, as bits: addresses are in lanes 0, 3 and 6, then 1, 4 and 7, then 2 and 5; lines in
 * lanes 2 and 5, then 0, 3 and 6, then 1, 4 and 7. */
enum { ADDR_1 = 0x92, ADDR_2 = 0x24, LINE_1 = 0x49, LINE_2 = 0x92 };

/* Samples of 8 rows, from their differences to the rows before. Returns their lines, in any order. */
CSNI_AVX2_INLINE __m256i sample_eight(struct csni_line_sample *s, const struct csni_row *rows, uint32_t i) {
    const uint8_t *p = (const uint8_t *)&rows[i], *before = (const uint8_t *)&rows[i - 1];
    __m256i a = load(p), b = load(p + 32), c = load(p + 64);
    __m256i lines = _mm256_blend_epi32(_mm256_blend_epi32(a, b, LINE_1), c, LINE_2);
    a = _mm256_sub_epi32(a, load(before));
    b = _mm256_sub_epi32(b, load(before + 32));
    c = _mm256_sub_epi32(c, load(before + 64));
    __m256i pc = _mm256_blend_epi32(_mm256_blend_epi32(a, b, ADDR_1), c, ADDR_2);
    __m256i line = _mm256_blend_epi32(_mm256_blend_epi32(a, b, LINE_1), c, LINE_2);
    pc = _mm256_permutevar8x32_epi32(pc, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    line = _mm256_permutevar8x32_epi32(line, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    pc = _mm256_min_epu32(pc, _mm256_set1_epi32(CSNI_SPECIAL_MAX + 1));
    __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi32(pc, line), 0xd8);
    _mm_storeu_si128((__m128i *)(void *)&s->pc[i], _mm256_castsi256_si128(both));
    _mm_storeu_si128((__m128i *)(void *)&s->line[i], _mm256_extracti128_si256(both, 1));
    return lines;
}

CSNI_AVX2 bool csni_sample_rows_avx2(struct csni_line_sample *s, const struct csni_row *rows) {
    enum { EIGHT = 8 };
    csni_sample_row(s, 0, rows[0].off, 0);
    if (s->count <= EIGHT) {
        for (uint32_t i = 1; i < s->count; i++)
            csni_sample_row(s, i, rows[i].off - rows[i - 1].off, (int64_t)rows[i].line - rows[i - 1].line);
        return true;
    }
    /* The last eight are done in any case, so that no step is smaller. */
    __m256i lines = sample_eight(s, rows, s->count - EIGHT);
    for (uint32_t i = 1; i < s->count - EIGHT; i += EIGHT) lines = _mm256_or_si256(lines, sample_eight(s, rows, i));
    return (_mm256_movemask_ps(_mm256_castsi256_ps(lines)) | (int)(rows[0].line >> 31)) == 0;
}

CSNI_AVX2_INLINE uint32_t sum_lanes(__m256i v) {
    __m256i pairs = _mm256_madd_epi16(v, _mm256_set1_epi16(1));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    four = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    return (uint32_t)_mm_cvtsi128_si32(four) + (uint32_t)_mm_extract_epi32(four, 1);
}

CSNI_AVX2 void csni_weigh_sample_avx2(struct csni_line_sample *s) {
    const __m256i two = _mm256_set1_epi16(2), low = _mm256_set1_epi16(0x80);
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t i = 0; i < s->padded; i += CSNI_SAMPLE_LANES) {
        __m256i straight = _mm256_cmpeq_epi16(load(&s->line[i]), _mm256_setzero_si256());
        __m256i saved = _mm256_add_epi16(two, _mm256_and_si256(straight, _mm256_cmpgt_epi16(low, load(&s->pc[i]))));
        _mm256_storeu_si256((__m256i *)(void *)&s->saved[i], saved);
        sum = _mm256_add_epi16(sum, saved);
    }
    s->total = sum_lanes(sum) - 2 * (s->padded - s->count) + s->count;
}

/* What these rows save in a window that ends at `last` = width - 1, to be added up; `base` is the width times the address
 * delta, k how far the line delta is in the window. */
CSNI_AVX2_INLINE __m256i save(__m256i sums, __m256i saved, __m256i base, __m256i k, __m256i last) {
    const __m256i most = _mm256_set1_epi16(CSNI_SPECIAL_MAX);
    __m256i operand = _mm256_add_epi16(base, k);
    __m256i special = _mm256_and_si256(_mm256_cmpeq_epi16(_mm256_min_epu16(k, last), k),
                                       _mm256_cmpeq_epi16(_mm256_min_epu16(operand, most), operand));
    return _mm256_add_epi16(sums, _mm256_and_si256(special, saved));
}

CSNI_AVX2 void csni_window_savings_avx2(const struct csni_line_sample *s, struct csni_line_window w,
                                        uint32_t saved[CSNI_NEARBY]) {
    const __m256i min = _mm256_set1_epi16((int16_t)w.min), width = _mm256_set1_epi16((int16_t)w.width);
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i last = _mm256_sub_epi16(width, one), wider = width, narrower = _mm256_sub_epi16(last, one);
    __m256i sums[CSNI_NEARBY];
    for (int i = 0; i < CSNI_NEARBY; i++) sums[i] = _mm256_setzero_si256();
    for (uint32_t i = 0; i < s->padded; i += CSNI_SAMPLE_LANES) {
        __m256i pc = load(&s->pc[i]), saves = load(&s->saved[i]), k = _mm256_sub_epi16(load(&s->line[i]), min);
        __m256i base = _mm256_mullo_epi16(pc, width), more = _mm256_add_epi16(base, pc), less = _mm256_sub_epi16(base, pc);
        sums[CSNI_WIDER] = save(sums[CSNI_WIDER], saves, more, k, wider);
        sums[CSNI_NARROWER] = save(sums[CSNI_NARROWER], saves, less, k, narrower);
        sums[CSNI_LOWER] = save(sums[CSNI_LOWER], saves, more, _mm256_add_epi16(k, one), wider);
        sums[CSNI_HIGHER] = save(sums[CSNI_HIGHER], saves, less, _mm256_sub_epi16(k, one), narrower);
        sums[CSNI_SAME] = save(sums[CSNI_SAME], saves, base, k, last);
    }
    for (int i = 0; i < CSNI_NEARBY; i++) saved[i] = sum_lanes(sums[i]);
}

/* The rows of one step, in lanes of 32 bits: plan_row() of gsym_line_encode.c without branches. */
CSNI_AVX2_INLINE void plan_eight(__m256i pc, __m256i line, __m256i min, __m256i width, uint32_t *bytes, uint32_t *sizes) {
    const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi32(CSNI_SPECIAL_MAX);
    __m256i base = _mm256_madd_epi16(pc, width); /* upper halves are 0 */
    __m256i top = _mm256_min_epi32(_mm256_sub_epi32(most, base), _mm256_sub_epi32(width, _mm256_set1_epi32(1)));
    __m256i k = _mm256_sub_epi32(line, min), rest = _mm256_max_epi32(_mm256_min_epi32(k, top), zero);
    __m256i advance = _mm256_sub_epi32(k, rest), none = _mm256_cmpeq_epi32(advance, zero);
    /* How far from 0, on either side: 0..63 and -1..-64 take one byte. */
    __m256i far = _mm256_xor_si256(advance, _mm256_srai_epi32(advance, 31));
    __m256i two = _mm256_cmpgt_epi32(far, _mm256_set1_epi32(63));
    __m256i operand = _mm256_slli_epi32(_mm256_and_si256(advance, _mm256_set1_epi32(0x7f)), 8);
    __m256i upper = _mm256_slli_epi32(_mm256_and_si256(advance, _mm256_set1_epi32(0x3f80)), 9);
    upper = _mm256_and_si256(two, _mm256_or_si256(upper, _mm256_set1_epi32(0x8000)));
    __m256i first = _mm256_or_si256(_mm256_or_si256(operand, upper), _mm256_set1_epi32(CSNI_GSYM_LINE_ADVANCE_LINE));
    __m256i shift = _mm256_add_epi32(_mm256_set1_epi32(16), _mm256_and_si256(two, _mm256_set1_epi32(8)));
    shift = _mm256_andnot_si256(none, shift);
    __m256i special = _mm256_add_epi32(_mm256_add_epi32(base, rest), _mm256_set1_epi32(CSNI_GSYM_LINE_FIRST_SPECIAL));
    __m256i all = _mm256_or_si256(_mm256_andnot_si256(none, first), _mm256_sllv_epi32(special, shift));
    /* Too far in addresses or lines, perhaps cut when the sample was taken, or better done with ADVANCE_PC. */
    __m256i odd = _mm256_or_si256(_mm256_cmpgt_epi32(base, most), _mm256_cmpgt_epi32(far, _mm256_set1_epi32(8191)));
    odd = _mm256_or_si256(odd, _mm256_andnot_si256(none, _mm256_cmpeq_epi32(line, zero)));
    odd = _mm256_or_si256(odd, _mm256_cmpgt_epi32(_mm256_abs_epi32(line), _mm256_set1_epi32(INT16_MAX - 1)));
    __m256i size = _mm256_add_epi32(_mm256_srli_epi32(shift, 3), _mm256_set1_epi32(1));
    _mm256_storeu_si256((__m256i *)(void *)bytes, all);
    _mm256_storeu_si256((__m256i *)(void *)sizes, _mm256_andnot_si256(odd, size));
}

CSNI_AVX2 void csni_plan_rows_avx2(const struct csni_line_sample *s, struct csni_line_window w,
                                   struct csni_row_plans *plans) {
    const __m256i min = _mm256_set1_epi32((int32_t)w.min), width = _mm256_set1_epi32((int32_t)w.width);
    for (uint32_t i = 0; i < s->count; i += 8) { /* the sample is filled up to a multiple of 16 */
        __m256i pc = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)&s->pc[i]));
        __m256i line = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)&s->line[i]));
        plan_eight(pc, line, min, width, &plans->bytes[i], &plans->sizes[i]);
    }
}

#endif
