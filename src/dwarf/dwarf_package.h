/* The indexes of a package of split DWARF (.dwp): which unit has which parts of the package's sections. Version 2 is
 * GNU's for DWARF 4, version 5 that of DWARF 5, 7.3.5. */
#ifndef CSNI_DWARF_PACKAGE_H
#define CSNI_DWARF_PACKAGE_H

#include "base/core/alloc.h"
#include "base/core/span.h"

struct csni_unit;
struct csni_package;

struct csni_dwarf_sections;

/* Of .debug_cu_index, and of .debug_tu_index, which may be empty. A damaged index of types is remembered in *damage and counts as
 * empty; a damaged index of units fails. Offsets have 32 bits: in sections of more than 4 GiB (llvm-dwp
 * -continue-on-cu-index-overflow), whose units stand in the order of the index, those that begin further on are
 * known by that; if they do not ascend, the index is damaged. */
csn_status csni_package_create(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                               struct csni_package **out, struct csn_error *damage, struct csn_error *err);
void csni_package_destroy(struct csni_package *package); /* NULL is fine */

/* Moves what the header of a unit tells from offsets in the unit's contributions to offsets in the sections; false
 * where no row of an index has the unit. */
bool csni_package_place(const struct csni_package *package, struct csni_unit *unit);

/* Where the unit of an id begins in .debug_info, by the hash table. False: it has none. */
bool csni_package_find(const struct csni_package *package, uint64_t dwo_id, uint64_t *info_off);

#endif
