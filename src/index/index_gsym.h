/* GSYM as a format of indexes: what its two files share. */
#ifndef CSNI_INDEX_GSYM_H
#define CSNI_INDEX_GSYM_H

#include "index/index_private.h"

/* csni_index_format.lookup_batch */
size_t csni_index_gsym_lookup_batch(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                    struct csn_batch_answer *answers);

#endif
