/* Rows of a function of an index. */
#ifndef CALLSIGN_CLI_INDEX_ROW_H
#define CALLSIGN_CLI_INDEX_ROW_H

#include <stdbool.h>

#include <callsign/inspect.h>

/* The last row at or before an address. False: there is none. */
bool index_row_at(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct csn_row *out);

#endif
