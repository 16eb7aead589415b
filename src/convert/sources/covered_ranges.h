/* The ranges of functions that have rows or inlined calls. A symbol of the same range adds nothing but a name, so it
 * need not become a function at all. */
#ifndef CSNI_COVERED_RANGES_H
#define CSNI_COVERED_RANGES_H

#include "convert/conversion.h"

struct csni_covered_ranges {
    const struct csn_allocator *alloc;
    uint64_t *slots;   /* hash table of start, less `base`, and size; 0: free */
    uint32_t bits;      /* of the number of slots */
    uint64_t base;
    uint64_t lowest;    /* start of the symbols left out so far */
};

/* Of the functions in all batches of the conversion. It stays empty if several functions of one range may be kept. */
csn_status csni_covered_ranges_make(struct csni_covered_ranges *covered, const struct csni_conversion *c,
                                    struct csn_error *err);
void csni_covered_ranges_deinit(struct csni_covered_ranges *covered);

/* Whether a symbol can be left out. Those at the lowest address are kept, as the report's example of what was dropped. */
bool csni_covered_ranges_have(struct csni_covered_ranges *covered, uint64_t start, uint32_t size);

#endif
