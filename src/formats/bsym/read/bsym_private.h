/* What the files of the BSYM reader share. */
#ifndef CSNI_BSYM_PRIVATE_H
#define CSNI_BSYM_PRIVATE_H

#include "formats/bsym/read/bsym.h"

/* Room for `count` segments, added by csni_bsym_add_segment(). */
csn_status csni_bsym_reserve_segments(struct csni_bsym *b, uint64_t count, const struct csn_allocator *alloc,
                                      struct csn_error *err);
/* Segments without symbols are left out. */
csn_status csni_bsym_add_segment(struct csni_bsym *b, const struct csni_bsym_segment *segment, struct csn_error *err);
/* Once all segments are there: sorts them and, where that is needed, their symbols. */
csn_status csni_bsym_finish(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err);

/* Version 3. */
csn_status csni_bsym3_open(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err);
/* One page; false: damaged. *out_size: at most CSNI_BSYM3_PAGE_SIZE. */
bool csni_bsym3_expand_page(struct csni_span page, uint8_t out[CSNI_BSYM3_PAGE_SIZE], size_t *out_size);

#endif
