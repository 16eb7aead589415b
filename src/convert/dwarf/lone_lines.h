/* Line tables that no unit names: of clang -gline-directives-only, which writes no units, and of assembler files
 * with .loc alone. */
#ifndef CSNI_LONE_LINES_H
#define CSNI_LONE_LINES_H

#include "convert/dwarf/unit_workers.h"

struct csni_lone_table {
    uint64_t off, end;         /* in .debug_line */
    uint16_t version;
    uint8_t offset_size;
};

/* The line tables that there are, and those that units name. */
struct csni_line_claims {
    CSNI_VEC(struct csni_lone_table) tables;
    CSNI_VEC(uint64_t) named;
    bool has_tables;           /* they have been looked for */
    bool is_incomplete;        /* a unit could not be read: nothing is known of what it names */
};
void csni_line_claims_init(struct csni_line_claims *claims, const struct csn_allocator *alloc);
void csni_line_claims_deinit(struct csni_line_claims *claims); /* all zeros are fine */

/* Adds what the units of `dwarf` name, which have been prepared. False: out of memory. */
bool csni_line_claims_add_units(struct csni_line_claims *claims, const struct csni_dwarf *dwarf);
/* Looks at the head of each table, in all of .debug_line. False: out of memory. */
bool csni_line_claims_find_tables(struct csni_line_claims *claims, struct csni_span section, bool big);
/* Leaves those tables that no unit names, or none where that is not known. */
void csni_line_claims_keep_lone(struct csni_line_claims *claims);

/* Adds a batch for each table that was kept, with rows that belong to no function of a unit. The workers are bound to `dwarf`. */
csn_status csni_lone_lines_convert(struct csni_unit_workers *workers, const struct csni_dwarf *dwarf,
                                   const struct csni_line_claims *claims, uint8_t address_size, struct csn_error *err);

#endif
