/* Counting every byte of a file for one thing: what claims bytes comes by ascending place, and a byte belongs to the first that
 * claims it. What nobody claims is left over. */
#ifndef CSNI_BYTE_SWEEP_H
#define CSNI_BYTE_SWEEP_H

#include <stdint.h>

struct csni_byte_sweep {
    uint64_t *part_bytes;      /* by number of the part */
    uint64_t claimed, counted; /* everything below `claimed` has been counted */
};

static inline void csni_sweep_claim(struct csni_byte_sweep *sweep, unsigned part, uint64_t start, uint64_t size) {
    uint64_t end = start + size;
    if (start < sweep->claimed) start = sweep->claimed;
    if (end <= start) return;
    sweep->part_bytes[part] += end - start;
    sweep->counted += end - start;
    sweep->claimed = end;
}

/* A table or the like. */
struct csni_byte_region {
    unsigned part;
    uint64_t start, size;
};

/* Few of them, by place; those of one place stay in order. */
static inline void csni_sort_regions(struct csni_byte_region *regions, unsigned count) {
    for (unsigned i = 1; i < count; i++) {
        struct csni_byte_region moving = regions[i];
        unsigned at = i;
        for (; at && regions[at - 1].start > moving.start; at--) regions[at] = regions[at - 1];
        regions[at] = moving;
    }
}

#endif
