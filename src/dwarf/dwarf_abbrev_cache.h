/* Abbreviations that have been compiled, by their bytes.
 *
 * Every unit of GCC and Clang has an abbreviation table of its own; hardly two tables are equal, but most of what stands in
 * one stands in many, under other codes. One cache per worker, of one section and one set of sizes; what is in it saves time
 * and changes nothing. */
#ifndef CSNI_DWARF_ABBREV_CACHE_H
#define CSNI_DWARF_ABBREV_CACHE_H

#include "dwarf/dwarf_private.h"

/* An abbreviation but for its code. It says itself where it ends, so that the same bytes mean the same. */
struct csni_known_abbrev {
    uint64_t off;         /* in the section: its tag */
    uint32_t size;        /* bytes; 0: an empty place */
    uint8_t references;   /* CSNI_REFERS_ */
    struct csni_plan plan;
};

struct csni_abbrev_cache {
    struct csni_known_abbrev *places; /* 2^bits */
    unsigned bits;
};

/* As large as a section of so many bytes needs. */
csn_status csni_abbrev_cache_init(struct csni_abbrev_cache *cache, uint64_t section_size, const struct csn_allocator *alloc,
                                  struct csn_error *err);
void csni_abbrev_cache_deinit(struct csni_abbrev_cache *cache, const struct csn_allocator *alloc);

/* The place for what stands at p, of the section [begin, end). NULL: it is too long to be kept, or too near to the end. */
struct csni_known_abbrev *csni_abbrev_cache_place(const struct csni_abbrev_cache *cache, const uint8_t *p,
                                                  const uint8_t *end);
/* Whether that is what the place holds. */
static inline bool csni_abbrev_is_known(const struct csni_known_abbrev *place, const uint8_t *begin, const uint8_t *p,
                                        const uint8_t *end) {
    return place->size && place->size <= (size_t)(end - p) && memcmp(begin + place->off, p, place->size) == 0;
}

#endif
