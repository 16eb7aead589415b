#include "base/core/counted_bytes.h"

csn_status csni_count_bytes(struct csni_counted_bytes *counted, uint64_t file_size, uint64_t start, uint64_t size, uint64_t *out) {
    if (!counted->bits) {
        counted->size = file_size;
        counted->bits = csni_alloc_zeroed(counted->alloc, (size_t)(file_size / 8 + 1), 1);
        if (!counted->bits) return CSN_E_MEMORY;
    }
    uint64_t at = start;
    for (; at < counted->size && at - start < size; at++) {
        uint8_t *byte = &counted->bits[at / 8], bit = (uint8_t)(1u << at % 8);
        if (*byte & bit) break;
        *byte |= bit;
    }
    *out = at - start;
    return CSN_OK;
}

void csni_counted_bytes_deinit(struct csni_counted_bytes *counted) {
    if (counted->bits) csni_free(counted->alloc, counted->bits, (size_t)(counted->size / 8 + 1));
    counted->bits = NULL;
}
