/* Comparing strings: what `diff` and `stats` sort with. */
#ifndef CALLSIGN_CLI_SORTING_H
#define CALLSIGN_CLI_SORTING_H

#include <callsign/base.h>

/* Below, at or above 0, by bytes. */
int compare_strings(struct csn_str a, struct csn_str b);

#endif
