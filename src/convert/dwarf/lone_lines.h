/* Line tables that no unit names: of clang -gline-directives-only, which writes no units, and of assembler files with .loc alone. */
#ifndef CSNI_LONE_LINES_H
#define CSNI_LONE_LINES_H

#include "convert/dwarf/unit_workers.h"

/* Adds a batch for each, with rows that belong to no function of a unit. The workers are bound to `dwarf`, all of whose units have been
 * prepared; where one could not be, nothing is known of what it names, and nothing is added. */
csn_status csni_lone_lines_convert(struct csni_unit_workers *workers, const struct csni_dwarf *dwarf, uint8_t address_size,
                                   struct csn_error *err);

#endif
