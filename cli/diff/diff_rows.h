/* The line rows of a function as far as they mean something: what two indexes can be compared by, whatever their formats. */
#ifndef CALLSIGN_CLI_DIFF_ROWS_H
#define CALLSIGN_CLI_DIFF_ROWS_H

#include <callsign/index.h>
#include <callsign/inspect.h>

/* A path of an index, in the two parts that the index has it in. */
struct diff_path {
    struct csn_str directory, base;
};

/* File `idx` of an index; empty where there is none. */
struct diff_path diff_path_of(const struct csn_index *index, uint32_t idx);
/* Whether they name the same file, wherever each is cut in two. */
bool diff_paths_equal(struct diff_path a, struct diff_path b);
/* -1, 0, 1 by the bytes of the whole paths. */
int diff_paths_compare(struct diff_path a, struct diff_path b);

struct diff_row {
    uint64_t offset;     /* from the start of the function */
    uint32_t file, line; /* both 0: from here on no line is known */
};

/* Rows without those that a lookup can never answer with (superseded by another one at the same address, or after the
 * function), and without those that repeat the one before. */
struct diff_rows {
    const struct csn_index *index;
    uint64_t *left;      /* of what may be read: input/read_budget.h */
    bool *suspect;       /* set where a path lacks one of its parts, which may be unreadable */
    struct csn_row_iter iter;
    uint64_t start, size;
    struct csn_row ahead;
    csn_status status; /* of `ahead` */
    struct diff_row last;
};
csn_status diff_rows_init(struct diff_rows *rows, const struct csn_index *index, const struct csn_record *record,
                          uint64_t size, uint64_t *left, struct csn_error *err);
/* CSN_NONE after the last. CSN_E_LIMIT: nothing is left. */
csn_status diff_rows_next(struct diff_rows *rows, struct diff_row *out, struct csn_error *err);

#endif
