/* Statistics of an index, by file, by directory and by function. */
#ifndef CALLSIGN_CLI_STATS_GATHER_H
#define CALLSIGN_CLI_STATS_GATHER_H

#include <callsign/inspect.h>

#include "ui/whole_names.h"

/* Sums over functions that belong together. */
struct stats_sum {
    uint64_t functions, bytes, code_bytes; /* bytes: of records */
};

/* A file with the functions whose first row names it, or a directory with those of its files. Files of one path stand
 * as one; the first one stands for functions without a file. */
struct stats_place {
    struct csn_str directory, base;
    struct stats_sum sum;
};

struct stats_places {
    struct stats_place *items; /* the largest first */
    size_t count;
};

struct stats {
    const struct csn_index *index;
    struct csn_index_info info;
    struct csn_stats_sums sums;
    struct stats_sum *by_file;     /* by file number; [0]: no file */
    /* The functions with the largest records, the largest first. */
    struct csn_function_stats *largest;
    size_t largest_count, largest_max;
    struct whole_names names; /* of those */
};

/* Goes through the index. `largest_max`: functions to keep. CSN_E_MEMORY, or what csn_index_stats() fails with. */
csn_status stats_init(struct stats *stats, const struct csn_index *index, size_t largest_max, struct csn_error *err);
void stats_deinit(struct stats *stats);

/* Places that have functions; false when out of memory. The caller frees `items`. */
bool stats_by_file(const struct stats *stats, struct stats_places *out);
bool stats_by_directory(const struct stats *stats, struct stats_places *out);

/* Of a damaged function perhaps only the start is known. */
static inline bool stats_knows_size(const struct csn_function_stats *f) { return !f->damaged || f->function.record_size; }

struct stats_place stats_place_of(const struct stats *stats, uint32_t file);

#endif
