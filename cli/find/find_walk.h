/* Walking an index for all queries at once. */
#ifndef CALLSIGN_CLI_FIND_WALK_H
#define CALLSIGN_CLI_FIND_WALK_H

#include <callsign/inspect.h>

#include "find/find_query.h"
#include "ui/whole_names.h"

/* One match: a function, or rows of one. */
struct find_match {
    uint64_t addr, size;
    uint32_t function;    /* index of the function */
    uint32_t file, line;  /* index in the file table; line 0: unknown */
    bool is_merged;           /* the name is that of a function that was merged into it: */
    struct csn_record merged;
};
struct find_matches {
    struct find_match *items;
    size_t count, capacity;
};

struct find_walk {
    const struct csn_index *index;
    const struct find_query *queries;
    size_t query_count;
    struct find_matches *matches; /* by query */
    struct name_text demangler;
    bool in_pieces;               /* names are put together in `scratch` */
    struct name_scratch scratch;
    bool *is_file;                /* of the query whose file it is: file_count for each query; NULL: none is FIND_LINE */
    bool *has_run;                /* of the query: the row before was one of its line */
    uint32_t file_count;
    uint64_t left;                /* of what may be read: input/read_budget.h */
    csn_status status;            /* why a call below gave false */
    struct csn_error err;
};

/* False: no memory. */
bool find_walk_init(struct find_walk *walk, const struct csn_index *index, const struct find_query *queries, size_t count);
void find_walk_deinit(struct find_walk *walk);
/* Fills the matches, ascending by address where functions are. False: see walk->status. */
bool find_walk_run(struct find_walk *walk);
/* The same of these functions alone, which ascend. */
bool find_walk_run_over(struct find_walk *walk, const uint32_t *functions, size_t count);

/* A stored name of a function, its own or one that was merged into it. Lives until the visitor returns. False: stop. */
typedef bool find_name_visitor(void *context, uint32_t function, struct csn_str name);
/* False: the visitor said so, or see walk->status. */
bool find_walk_visit_names(struct find_walk *walk, uint32_t idx, find_name_visitor *visit, void *context);
/* The name of a match; lives until the next call. */
struct csn_str find_walk_name(struct find_walk *walk, const struct find_match *match);

#endif
