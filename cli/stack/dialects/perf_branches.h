/* The branches of a sample, as `perf script` prints them: newest first, each with where it came from and where it went.
 *
 *     0x55d000001139/0x55d000001161/P/-/-/3/                                     -F brstack, brstackoff
 *     0x55d000001139(/path/app)/0x55d000001161(/path/app)/P/-/-/3/CALL           with dso; (/path/app+0x1139) with dsoff, too
 *     area+0x19(/path/app)/main+0x5(/path/app)/M/X/A/3                           -F brstacksym
 *     [unknown]([unknown])/main+0x0(/path/app)/P/-/-/0/ */
#ifndef CALLSIGN_CLI_PERF_BRANCHES_H
#define CALLSIGN_CLI_PERF_BRANCHES_H

#include <stdbool.h>

#include <callsign/base.h>

/* One end of a branch. */
struct perf_branch_side {
    size_t at, end;        /* in its line, the image in brackets included */
    size_t place_end;      /* where the address or the symbol ends */
    struct csn_str symbol; /* empty: `value` is an address, or nothing is known */
    bool is_unknown;
    uint64_t value;        /* from the symbol's start, if there is one */
    struct csn_str module; /* empty: not printed, or not known */
};

/* Where the branches of a line begin; what stands before it is the sample's head. False: there are none. */
bool perf_branches_begin(struct csn_str line, size_t *out);
/* The next end from `from` on: where the branches begin, or the end of the side before. False: there is none. */
bool perf_branches_next(struct csn_str line, size_t from, struct perf_branch_side *out);

#endif
