/* Passing over inline nodes: the state between nodes, and the vectorized scan. Private to gsym_inline.c and the scan. */
#ifndef CSNI_GSYM_INLINE_SCAN_H
#define CSNI_GSYM_INLINE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core/byte_blocks.h"

struct csni_inline_scan {
    const uint8_t *p, *end;  /* the next node, and the end of the tree */
    const uint8_t *readable; /* end of the bytes that may be read: at or after `end` */
    uint64_t addr, base;     /* what the ranges of the nodes of depth 0 are relative to */
    uint64_t depth;          /* of the node at `p` below the list that is being searched */
};

#if CSNI_BYTE_BLOCKS
/* Moves over nodes that do not cover the address. True: the list has ended; false: the node or the end mark at scan->p is
 * for the caller. Only where csni_has_byte_blocks(). */
bool csni_inline_scan_avx2(struct csni_inline_scan *scan);
bool csni_inline_scan_avx2_v2(struct csni_inline_scan *scan); /* the same in a file of version 2 */
#else
static inline bool csni_inline_scan_avx2(struct csni_inline_scan *scan) {
    (void)scan;
    return false;
}
static inline bool csni_inline_scan_avx2_v2(struct csni_inline_scan *scan) {
    (void)scan;
    return false;
}
#endif

#endif
