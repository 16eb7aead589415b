/* What the files of `callsign diff` sort and grow with. */
#ifndef CALLSIGN_CLI_DIFF_SORT_H
#define CALLSIGN_CLI_DIFF_SORT_H

#include <stdbool.h>

#include <callsign/error.h>

/* Below, at or above 0, by bytes. */
int diff_compare_strings(struct csn_str a, struct csn_str b);

/* Makes room for `need` elements of `size` bytes; `items_pointer` is the address of a pointer to them. */
bool diff_reserve(void *items_pointer, size_t *room, size_t need, size_t size);

#endif
