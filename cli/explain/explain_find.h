/* The steps of one lookup, gathered. */
#ifndef CALLSIGN_CLI_EXPLAIN_FIND_H
#define CALLSIGN_CLI_EXPLAIN_FIND_H

#include <callsign/binaries.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "ui/whole_names.h"

enum { EXPLAIN_FRAMES = CSN_INLINE_DEPTH_MAX + 1, EXPLAIN_NAMES = 64, EXPLAIN_PATTERNS = 64, EXPLAIN_SITES = 32,
       EXPLAIN_BINARY_NAME = 1024 };

/* Call sites that return to the address, or the tail calls of a function. */
struct explained_site {
    struct csn_str function;                  /* that makes the call: the record's own, or one that shares its code */
    uint32_t flags;                           /* CSN_CALL_SITE_, of all such records of the function */
    uint32_t first_pattern, pattern_count;
    bool merged;                              /* not the record's own function */
};

struct explanation {
    uint64_t addr;
    csn_status status;
    struct csn_error err;
    struct csn_index_info info;
    struct csn_lookup found;
    bool has_before, has_after;               /* neighbours in the address table */
    struct csn_function before, after;        /* the last one that starts at or below the address; the next one */
    struct csn_error before_err, after_err;   /* with a text: of that one only the start can be read */
    bool has_binary;                          /* BSYM: only the last binary at or below the address is searched */
    struct csn_binary binary;
    char binary_name[EXPLAIN_BINARY_NAME];
    struct csn_function function;             /* whose record answered */
    uint64_t row_count, inline_count, site_count, merged_count;
    bool has_row, has_first_row;
    struct csn_row row, first_row;            /* the last one at or below the address; the first of all */
    struct csn_str row_directory, row_base;
    struct csn_frame frames[EXPLAIN_FRAMES];
    struct csn_str merged[EXPLAIN_NAMES];     /* the first of merged_count */
    uint64_t tail_count;                      /* of site_count: tail calls */
    uint32_t explained_count, pattern_count;
    struct explained_site sites[EXPLAIN_SITES];
    struct csn_str patterns[EXPLAIN_PATTERNS];
};

/* Names live as long as `names`, which is that of the index. */
void explain_find(const struct csn_index *index, uint64_t addr, struct whole_names *names, struct explanation *out);

#endif
