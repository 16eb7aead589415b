/* Bitmaps of bitmaps. */
#include "formats/breakpad/breakpad_bits.h"

enum { WORD_BITS = 64 };

bool csni_bit_tree_init(struct csni_bit_tree *t, uint32_t bound, const struct csn_allocator *alloc) {
    size_t sizes[CSNI_BIT_TREE_LEVELS], count = bound;
    *t = (struct csni_bit_tree){ 0 };
    do {
        count = (count + WORD_BITS - 1) / WORD_BITS;
        sizes[t->level_count++] = count;
        t->word_count += count;
    } while (count > 1);
    t->words = csni_alloc_zeroed(alloc, t->word_count, sizeof *t->words);
    if (!t->words) return false;
    uint64_t *at = t->words;
    for (unsigned k = 0; k < t->level_count; at += sizes[k++]) t->levels[k] = at;
    return true;
}

void csni_bit_tree_add(struct csni_bit_tree *t, uint32_t number) {
    for (unsigned k = 0; k < t->level_count; k++, number /= WORD_BITS)
        t->levels[k][number / WORD_BITS] |= (uint64_t)1 << number % WORD_BITS;
}

bool csni_bit_tree_has(const struct csni_bit_tree *t, uint32_t number) {
    return t->levels[0][number / WORD_BITS] >> number % WORD_BITS & 1;
}

uint32_t csni_bit_tree_neighbour(const struct csni_bit_tree *t, uint32_t number, bool above) {
    for (unsigned k = 0; k < t->level_count; k++, number /= WORD_BITS) {
        unsigned bit = number % WORD_BITS;
        uint64_t side = above ? ~(uint64_t)1 << bit : ((uint64_t)1 << bit) - 1;
        uint64_t found = t->levels[k][number / WORD_BITS] & side;
        if (!found) continue;
        uint32_t at = number / WORD_BITS;
        for (;; k--) {
            unsigned zeros = above ? (unsigned)__builtin_ctzll(found) : WORD_BITS - 1 - (unsigned)__builtin_clzll(found);
            at = at * WORD_BITS + zeros;
            if (!k) return at;
            found = t->levels[k - 1][at];
        }
    }
    return UINT32_MAX;
}

void csni_bit_tree_free(struct csni_bit_tree *t, const struct csn_allocator *alloc) {
    csni_free(alloc, t->words, t->word_count * sizeof *t->words);
}
