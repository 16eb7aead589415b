/* .debug_info in portions of whole units: a compressed one is inflated, a large one of a mapped file is looked at where it is. */
#ifndef CSNI_INFO_PORTIONS_H
#define CSNI_INFO_PORTIONS_H

#include "object/section_stream.h"

/* A part of .debug_info. All zeros: one without memory. */
struct csni_portion {
    uint8_t *bytes;            /* of csni_pages_alloc(), `capacity` of them; 0: of the file, which nobody writes */
    size_t size, capacity;
    uint64_t from;             /* offset of its first byte in the section */
};
void csni_portion_free(struct csni_portion *portion); /* it is all zeros then */
/* Nobody reads its bytes any more: of its memory `kept` bytes stay for the next one; pages of the file are given back. */
void csni_portion_shrink(struct csni_portion *portion, size_t kept);

struct csni_info_portions;

/* `enough`: the least size of a portion that is not the last one. CSN_NONE: the section cannot be read in portions. */
csn_status csni_info_portions_open(struct csni_object *object, uint32_t section, size_t enough,
                                   const struct csn_allocator *alloc, struct csni_info_portions **out,
                                   struct csn_error *err);
/* Finds the next portion; inflates it into the memory of an earlier one, or of none, which grows as it must. One thread at a time.
 * CSN_NONE: what comes next is no unit. Whatever it returns, out->from says where it would have begun. */
csn_status csni_info_portions_read(struct csni_info_portions *portions, struct csni_portion *out, struct csn_error *err);
/* Of the whole section, inflated. */
uint64_t csni_info_portions_size(const struct csni_info_portions *portions);
/* Whether the last portion that was read ends the section. */
bool csni_info_portions_at_end(const struct csni_info_portions *portions);
void csni_info_portions_close(struct csni_info_portions *portions); /* NULL is fine */

#endif
