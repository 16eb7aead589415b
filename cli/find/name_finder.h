/* Functions of names, one name after the other: the first ones go through all functions, many get a table. */
#ifndef CALLSIGN_CLI_NAME_FINDER_H
#define CALLSIGN_CLI_NAME_FINDER_H

#include "find/name_table.h"

/* All zeros at first. */
struct name_finder {
    struct name_table table;
    unsigned stored_cost, shown_cost; /* of what went without a table */
    bool is_remote;                   /* reading all names may mean to fetch them */
    bool has_no_table;                /* it would have been too large */
};
void name_finder_deinit(struct name_finder *finder);

/* Their numbers, ascending; the caller frees *out. CSN_OK, with none as well, or a failure. */
csn_status name_finder_stored(struct name_finder *finder, const struct csn_index *index, struct csn_str name, uint32_t **out,
                              size_t *count, struct csn_error *err);

/* Where functions start that `callsign find` has for a name, ascending; the same. */
csn_status name_finder_shown(struct name_finder *finder, const struct csn_index *index, const char *name, uint64_t **out,
                             size_t *count, struct csn_error *err);

#endif
