/* GSYM as a format of indexes: what its files share, and the section format of 2017 with it. */
#ifndef CSNI_INDEX_GSYM_H
#define CSNI_INDEX_GSYM_H

#include "index/index_private.h"

/* csni_index_format.lookup_batch */
size_t csni_index_gsym_lookup_batch(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                    struct csn_batch_answer *answers);

/* Functions of csni_index_format for every index whose tables are in index->gsym. */
struct csn_str csni_index_gsym_string(const struct csn_index *index, uint64_t offset);
csn_status csni_index_gsym_get_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                      struct csn_error *err);
csn_status csni_index_gsym_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
                                          struct csn_error *err);

#endif
