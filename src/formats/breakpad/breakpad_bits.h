/* A set of numbers below a bound, with neighbours. */
#ifndef CSNI_BREAKPAD_BITS_H
#define CSNI_BREAKPAD_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core/alloc.h"

enum { CSNI_BIT_TREE_LEVELS = 6 };

struct csni_bit_tree {
    uint64_t *levels[CSNI_BIT_TREE_LEVELS]; /* [0]: the numbers; a bit of [k + 1]: a word of [k] that is not 0 */
    unsigned level_count;
    uint64_t *words;
    size_t word_count;
};

/* Empty. False: out of memory. */
bool csni_bit_tree_init(struct csni_bit_tree *t, uint32_t bound, const struct csn_allocator *alloc);
void csni_bit_tree_free(struct csni_bit_tree *t, const struct csn_allocator *alloc);
void csni_bit_tree_add(struct csni_bit_tree *t, uint32_t number);
bool csni_bit_tree_has(const struct csni_bit_tree *t, uint32_t number);
/* The greatest number below `number`, or the least above it; UINT32_MAX: none. */
uint32_t csni_bit_tree_neighbour(const struct csni_bit_tree *t, uint32_t number, bool above);

#endif
