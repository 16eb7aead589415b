/* Two functions compared by meaning. Addresses within them count from their starts, so that a function that only moved
 * differs in nothing else. */
#ifndef CALLSIGN_CLI_DIFF_FUNCTION_H
#define CALLSIGN_CLI_DIFF_FUNCTION_H

#include "diff/diff_inlines.h"

enum diff_what {
    DIFF_ADDRESS = 1,
    DIFF_SIZE = 2,
    DIFF_LINES = 4,
    DIFF_INLINES = 8,
    DIFF_CALL_SITES = 16,
    DIFF_MERGED = 32,
    DIFF_DAMAGED = 64 /* one of them cannot be read to its end: nothing else counts then */
};
/* "address", "size", ... in the order above, without the last; NULL after them. */
const char *diff_what_name(unsigned k);

struct diff_function {
    struct csn_record record;
    struct csn_function function;
    csn_status status; /* of reading it */
    uint32_t idx;      /* of the record; 0 for a merged one */
};
/* Below, at or above 0: an order by name, and by size among equal names. */
int diff_by_name(const void *a, const void *b);
struct diff_function diff_function_read(const struct csn_index *index, const struct csn_record *record);

/* A call site with one of its patterns. */
struct diff_site {
    uint64_t return_offset;
    uint32_t flags;
    struct csn_str pattern; /* empty: it has none */
};

/* What differs, and of each kind the first difference; a side that has nothing there has no `present`. */
struct function_diff {
    uint32_t what; /* enum diff_what */
    struct {
        bool present;
        struct diff_row row;
        struct diff_path path;
    } rows[2];
    struct diff_nodes nodes;
    struct {
        bool present;
        struct diff_site site;
    } sites[2];
    struct {
        bool present;
        struct csn_str name;
        uint32_t what; /* where both are present: how the two differ, as above */
    } merged[2];
    struct csn_error err;
};

/* Room that comparing needs, used again from one pair to the next. All zeros but for `indexes` at first.
 *
 * Functions may share records and names, but each is read for itself: where a few bytes are made to serve for very many
 * functions, that would take forever. So what may be read of an index is counted: rows, inlined calls, ranges, call sites, bytes
 * of names, each of which takes bytes of the file, and of those a sound index has no more than it is long, a few times over. */
struct diff_scratch {
    const struct csn_index *indexes[2];
    uint32_t *equal_file; /* by file of the first index: a file of the second with that path, known by now; 0: none yet */
    uint32_t file_counts[2];
    struct diff_tree trees[2];
    struct diff_site *sites[2];
    size_t site_capacity[2];
    uint64_t left[2]; /* of what may be read; 0: too much was */
    bool suspect[2];  /* an empty string was met in the function being compared */
};
bool diff_scratch_init(struct diff_scratch *capacity, const struct csn_index *a, const struct csn_index *b);
void diff_scratch_deinit(struct diff_scratch *capacity);

/* False: out of memory, or nothing is left to be read. */
bool diff_functions(struct diff_scratch *capacity, const struct diff_function *a, const struct diff_function *b,
                    struct function_diff *out);

#endif
