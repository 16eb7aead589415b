/* Functions that the linker folded into others: where they are, and where their calls return to. */
#ifndef CSNI_FOLDED_H
#define CSNI_FOLDED_H

#include "convert/call_sites/name_table.h"

/* Gives unplaced functions the place that the symbol table has for their name, if another function's code stands there,
 * and their call sites the places of the same calls of that code. Then the table has to be made anew. */
csn_status csni_place_folded(struct csni_conversion *c, struct csni_name_table *table, struct csn_error *err);

#endif
