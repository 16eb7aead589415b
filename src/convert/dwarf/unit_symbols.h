/* Functions of a unit that only symbols tell of. */
#ifndef CSNI_UNIT_SYMBOLS_H
#define CSNI_UNIT_SYMBOLS_H

#include "convert/dwarf/unit_job.h"

/* Adds the functions of a symbol list that the unit's line table has rows for, but for those that it has already. */
csn_status csni_unit_add_symbols(struct csni_unit_job *job, const struct csni_symbol_list *symbols);

#endif
