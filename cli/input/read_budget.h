/* How much of an index may be read. Functions of a hostile one share a long name or a large record, and going through all of them
 * would take forever. */
#ifndef CALLSIGN_CLI_READ_BUDGET_H
#define CALLSIGN_CLI_READ_BUDGET_H

#include <callsign/index.h>

/* In bytes of names, records and paths, each counted whenever it is read: once through a real index takes less than four for a byte of
 * the file. */
uint64_t read_budget_of(const struct csn_index *index);
/* False: that much is not left, and nothing is from now on. */
bool read_budget_spend(uint64_t *left, uint64_t count);
/* CSN_E_LIMIT, with the text for it. */
csn_status read_budget_fail(const struct csn_index *index, struct csn_error *err);

#endif
