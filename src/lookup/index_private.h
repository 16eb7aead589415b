/* An open index: which format it has, and the parsed view of that format. */
#ifndef CSNI_INDEX_PRIVATE_H
#define CSNI_INDEX_PRIVATE_H

#include "base/file_map.h"
#include "gsym/gsym_accel.h"

struct csn_index {
    enum csn_format format;
    struct csni_gsym gsym; /* CSN_FORMAT_GSYM_V1, CSN_FORMAT_GSYM_V2 */
    struct csni_gsym_accel accel; /* where csn_index_options.accelerator_bytes asked for it */
    const struct csn_allocator *allocator;
    struct csni_file_map map; /* of csn_index_open_file(); empty otherwise */
    bool mapped;
};

/* What the reader found, as a caller sees it; csn_status of a lookup that did not fail. */
static inline void csni_index_give(const struct csn_index *index, const struct csni_gsym_answer *answer,
                                   csn_status status, struct csn_frame_ref *frames, size_t cap,
                                   struct csn_lookup *out) {
    size_t count = status == CSN_OK ? answer->inlined_count + 1 : 0;
    for (size_t k = 0; k < count && k < cap; k++) csni_gsym_frame(&index->gsym, answer, k, &frames[k]);
    *out = (struct csn_lookup){ .function_start = answer->start, .function_size = answer->size,
                                .function_index = answer->idx, .reason = answer->reason, .frame_count = count };
}

#endif
