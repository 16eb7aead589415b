/* Comparing strings and growing arrays: what `diff` and `stats` sort with. */
#ifndef CALLSIGN_CLI_SORTING_H
#define CALLSIGN_CLI_SORTING_H

#include <stdbool.h>

#include <callsign/base.h>

/* Below, at or above 0, by bytes. */
int compare_strings(struct csn_str a, struct csn_str b);

/* Makes room for `need` elements of `size` bytes; `items_pointer` is the address of a pointer to them. */
bool reserve_items(void *items_pointer, size_t *capacity, size_t need, size_t size);

#endif
