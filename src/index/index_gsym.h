/* GSYM as a format of indexes: what its files share, and the section format of 2017 with it. */
#ifndef CSNI_INDEX_GSYM_H
#define CSNI_INDEX_GSYM_H

#include "index/index_private.h"

/* csni_index_format.lookup_batch */
size_t csni_index_gsym_lookup_batch(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                    struct csn_batch_answer *answers);

/* csni_index_format.lookup and .lookup_refs, whatever the index has; and where accel.direct is set. */
csn_status csni_index_gsym_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                  size_t *out_count, struct csn_error *err);
csn_status csni_index_gsym_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                       struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err);
csn_status csni_index_gsym_lookup_avx2(const struct csn_index *index, uint64_t addr, struct csn_frame *frames,
                                       size_t cap, size_t *out_count, struct csn_error *err);
csn_status csni_index_gsym_lookup_refs_avx2(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                            struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                            struct csn_error *err);
/* As many of a group's addresses, CSNI_BATCH_GROUP at most, as it answers from the first on. */
size_t csni_index_gsym_group_avx2(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                  struct csn_batch_answer *answers);

/* Functions of csni_index_format for every index whose tables are in index->gsym. */
struct csn_str csni_index_gsym_string(const struct csn_index *index, uint64_t offset);
csn_status csni_index_gsym_get_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                      struct csn_error *err);
csn_status csni_index_gsym_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
                                          struct csn_error *err);
csn_status csni_index_gsym_check(const struct csn_index *index, const struct csn_record *record, struct csn_error *err);

#endif
