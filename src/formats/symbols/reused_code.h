/* Code that a process made up, in memory that is used again when older code is gone. */
#ifndef CSNI_REUSED_CODE_H
#define CSNI_REUSED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core/alloc.h"

struct csni_made_code {
    uint64_t start, size;
    uint64_t order;  /* when it was written; no two have the same */
    bool is_gone;    /* set below: later code was written where it begins */
};

/* `items` ascend by start, those of one start by order. What begins within later code is gone, even if that is gone itself: its
 * memory was written over all the same. False: no memory, of which it takes a word for each number up to the highest order. Cost: near to
 * linear. */
bool csni_find_reused_code(struct csni_made_code *items, size_t count, const struct csn_allocator *alloc);

#endif
