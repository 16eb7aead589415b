/* Which functions have been described: a symbol of the same place, of which nothing but a name is known, gives way to one
 * that has rows or inlined calls, so it need not become a function at all. */
#ifndef CSNI_DESCRIBED_H
#define CSNI_DESCRIBED_H

#include "convert/conversion.h"

struct csni_described {
    const struct csn_allocator *alloc;
    uint64_t *places;   /* hash table of start, less `base`, and size; 0: free */
    uint32_t bits;      /* of the number of places */
    uint64_t base;
    uint64_t lowest;    /* start of the symbols left out so far */
};

/* Of the functions in all batches of the conversion. It stays empty where functions of one place may all be kept. */
csn_status csni_described_make(struct csni_described *described, const struct csni_conversion *c, struct csn_error *err);
void csni_described_deinit(struct csni_described *described);

/* Whether a symbol can be left out. Those at the lowest address are kept, as the report's example of what was dropped. */
bool csni_described_has(struct csni_described *described, uint64_t start, uint32_t size);

#endif
