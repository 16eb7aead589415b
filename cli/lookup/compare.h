/* Two indexes compared by what they answer. */
#ifndef CALLSIGN_CLI_COMPARE_H
#define CALLSIGN_CLI_COMPARE_H

#include <callsign/index.h>

#include "ui/out_buffer.h"

struct compare_counts {
    uint64_t addresses; /* compared */
    uint64_t different;
};

/* Asks both indexes for every address where an answer of either can change: function starts, last bytes and what follows them,
 * the bytes before starts, row starts, ends of the ranges of inlined calls. Where a function starts, the functions that are merged
 * into it are compared too, their names, sizes, rows and inlined calls. Prints the first differences to `out`, unless it is NULL.
 * False: out of memory, with a message. Cost: two lookups an address; memory for one function's addresses. */
bool compare_answers(const struct csn_index *index, const struct csn_index *other, struct out_buffer *out,
                     struct compare_counts *counts);

#endif
