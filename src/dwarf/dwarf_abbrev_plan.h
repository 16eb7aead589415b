/* Compiling one abbreviation after the other of a table. */
#ifndef CSNI_DWARF_ABBREV_PLAN_H
#define CSNI_DWARF_ABBREV_PLAN_H

#include "dwarf/dwarf_private.h"

struct csni_plan_compiler {
    const struct csni_abbrevs *table;
    const struct csni_abbrev_lookup *lookup;
    csni_steps *steps;    /* of all plans: each appends its own */
    struct csni_cursor c; /* in .debug_abbrev */
};

/* What follows the code of an abbreviation, with the whole of which the cursor is done. *references: CSNI_REFERS_. */
csn_status csni_plan_compile(struct csni_plan_compiler *compiler, uint64_t code, struct csni_plan *out, uint8_t *references,
                             struct csn_error *err);
/* The failure of a table that ends within the abbreviation of that code. */
csn_status csni_abbrev_truncated(const struct csni_plan_compiler *compiler, uint64_t code, struct csn_error *err);

#endif
