/* An open index: which format it has, and the parsed view of that format. */
#ifndef CSNI_INDEX_PRIVATE_H
#define CSNI_INDEX_PRIVATE_H

#include "base/file_map.h"
#include "gsym/gsym.h"

struct csn_index {
    enum csn_format format;
    struct csni_gsym gsym; /* CSN_FORMAT_GSYM_V1 */
    const struct csn_allocator *allocator;
    struct csni_file_map map; /* of csn_index_open_file(); empty otherwise */
    bool mapped;
};

#endif
