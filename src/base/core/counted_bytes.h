/* Bytes of a file that were counted before, in any order: parts that share bytes add up to no more than the file. */
#ifndef CSNI_COUNTED_BYTES_H
#define CSNI_COUNTED_BYTES_H

#include "base/core/alloc.h"

struct csni_counted_bytes {
    const struct csn_allocator *alloc;
    uint8_t *bits; /* one for each of `size` bytes; NULL until the first is counted */
    uint64_t size;
};

/* How many bytes from `start` on, `size` at most, come before the first that was counted; they are counted now. `file_size` is the same
 * each time. CSN_OK; CSN_E_MEMORY. Cost: all calls together, the bytes of the file. */
csn_status csni_count_bytes(struct csni_counted_bytes *counted, uint64_t file_size, uint64_t start, uint64_t size, uint64_t *out);
void csni_counted_bytes_deinit(struct csni_counted_bytes *counted);

#endif
