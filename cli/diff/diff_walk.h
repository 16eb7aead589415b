/* Both indexes walked side by side in address order. Functions are the same by address and name; what is left over then is
 * found again by name: it moved. */
#ifndef CALLSIGN_CLI_DIFF_WALK_H
#define CALLSIGN_CLI_DIFF_WALK_H

#include "diff/diff_function.h"

/* A function that only one index has. */
struct diff_loose {
    uint32_t idx;
    uint64_t start, size;
    struct csn_str name;
};

struct diff_counts {
    uint64_t same, changed, moved, removed, added;
    uint64_t damaged[2];     /* functions whose record cannot be read to its end; they and their counterparts are nothing else */
    bool shares_too_much[2]; /* functions share records or names so much that comparing them was given up */
};

/* What the walk finds, in this order: all `changed` by ascending address (moved ones after the others), all `removed`,
 * all `added`. `between` is called before the first of each of the latter two. */
struct diff_damaged {
    int side;
    uint64_t start;
    struct csn_str name;     /* its own, or its counterpart's; empty: not known */
    struct csn_error err;
};

struct diff_listener {
    void *context;
    void (*changed)(void *context, const struct diff_function *a, const struct diff_function *b,
                    const struct function_diff *diff);
    void (*loose)(void *context, int side, const struct diff_loose *function);
    void (*between)(void *context, int side);
    void (*damaged)(void *context, const struct diff_damaged *function); /* anywhere among the others */
};

/* False: out of memory, or one of the two shares too much. Linear in both indexes but for the functions that only one has, which
 * are sorted by name; memory for those, and for the functions of one address. */
bool diff_walk(const struct csn_index *a, const struct csn_index *b, const struct diff_listener *listener,
               struct diff_counts *counts);

#endif
