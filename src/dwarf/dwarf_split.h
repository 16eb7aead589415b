/* Split DWARF: units in a .dwo file or a package, and the skeletons in the image that they belong to. */
#ifndef CSNI_DWARF_SPLIT_H
#define CSNI_DWARF_SPLIT_H

#include "dwarf/dwarf.h"

/* After all units of a .dwo file or package are prepared: makes them be found by id. */
csn_status csni_split_index(struct csni_dwarf *dwarf, struct csn_error *err);

/* The unit of code with an id, or NULL: in a package by its hash table, in a .dwo file by the units themselves. */
struct csni_unit *csni_split_find(const struct csni_dwarf *dwarf, uint64_t dwo_id);

/* The first unit of code, whatever its id, or NULL. */
const struct csni_unit *csni_split_first(const struct csni_dwarf *dwarf);

/* Gives a prepared split unit what its skeleton, prepared too, tells in its place: bases of addresses and ranges. From
 * then on its DIEs can be read like those of any unit, and as often as is wanted. Only one thread at a time has the
 * same unit. Failure: they do not fit each other. */
csn_status csni_split_bind(struct csni_unit *unit, const struct csni_unit *skeleton, struct csn_error *err);

#endif
