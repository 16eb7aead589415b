/* Placing and filling the address sample. */
#include "formats/gsym/write/gsym_write_sample.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"

enum {
    FUNCTIONS_MIN = 2048,  /* the address table of fewer is two pages, or less */
    SHIFT_MIN = 7,         /* half a kilobyte of the address table is left to search */
    MARK_BYTES_MAX = 2048, /* half a page */
    PAGE = 4096,
    LINE_BYTES_SHARE = 256 /* at most so small a part of them */
};

struct csni_gsym_sample_plan csni_gsym_plan_sample(uint64_t at, uint64_t head, uint32_t function_count, unsigned addr_size,
                                                   uint64_t line_bytes) {
    const struct csni_gsym_sample_plan none = { at + head, at + head, 0 };
    if (function_count < FUNCTIONS_MIN) return none;
    unsigned shift = SHIFT_MIN;
    while ((((uint64_t)function_count - 1) >> shift) + 1 > MARK_BYTES_MAX / addr_size) shift++;
    uint64_t size = ((((uint64_t)function_count - 1) >> shift) + 1) * addr_size + CSNI_GSYM_SAMPLE_TRAILER;
    /* Within one page. */
    uint64_t offset = (at / PAGE == (at + head + size - 1) / PAGE ? at : csni_align_up(at, PAGE)) + head;
    if (offset + size - head - at > line_bytes / LINE_BYTES_SHARE) return none;
    return (struct csni_gsym_sample_plan){ offset, offset + size, shift };
}

void csni_gsym_fill_sample(const struct csni_gsym_sample_plan *plan, uint8_t *file, const uint8_t *addresses,
                           uint32_t function_count, unsigned addr_size, bool big) {
    if (!plan->shift) return;
    uint8_t *p = file + plan->offset, *strings = file + plan->end;
    for (uint64_t idx = 0; idx < function_count; idx += (uint64_t)1 << plan->shift, p += addr_size)
        memcpy(p, addresses + (size_t)idx * addr_size, addr_size);
    csni_put32(strings + CSNI_GSYM_SAMPLE_SHIFT, plan->shift, big);
    csni_put32(strings + CSNI_GSYM_SAMPLE_MAGIC_AT, CSNI_GSYM_SAMPLE_MAGIC, big);
}
