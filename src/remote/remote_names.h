/* Names that an accelerator keeps beside its blocks, so that a lookup need not fetch them from the string table. */
#ifndef CSNI_REMOTE_NAMES_H
#define CSNI_REMOTE_NAMES_H

#include "base/core/span.h"
#include "formats/gsym/read/gsym_accel.h"

/* By offset in the string table, a hash table. */
struct csni_remote_name {
    uint64_t offset; /* 0: an empty slot */
    struct csn_str text;
};

struct csni_remote_names {
    const struct csn_allocator *allocator;
    struct csni_remote_name *slots;
    size_t count, capacity; /* a power of two */
};

/* Takes those of the block of an entry, which have arrived. What is damaged is left out. */
csn_status csni_remote_names_take(struct csni_remote_names *names, const struct csni_gsym_accel *accel, const uint8_t *entry,
                                  struct csn_error *err);
/* False: it is not among them. */
bool csni_remote_names_find(const struct csni_remote_names *names, uint64_t offset, struct csn_str *out);
void csni_remote_names_deinit(struct csni_remote_names *names);

#endif
