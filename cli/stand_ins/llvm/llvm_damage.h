/* What LLVM prints of damaged DWARF. Sections are read anew for that, as LLVM reads them. */
#ifndef CALLSIGN_CLI_LLVM_DAMAGE_H
#define CALLSIGN_CLI_LLVM_DAMAGE_H

#include "stand_ins/llvm/llvm_module.h"

/* Called for each range of .debug_aranges, and with low = high for each unit that has a set. */
typedef void llvm_take_arange(void *context, uint64_t unit_offset, uint64_t low, uint64_t high);
/* Reads .debug_aranges to its end or to what LLVM cannot read. Problems are printed. In objects that are not linked, ranges
 * are as the file has them, without relocations. */
void llvm_read_aranges(const struct llvm_module *module, llvm_take_arange *take, void *context);

/* The first unit of .debug_info whose header LLVM cannot read is reported. True: it is the first of all, and LLVM has none. */
bool llvm_report_units(const struct llvm_module *module);

/* Why the unit's root cannot be read, where its table of abbreviations is damaged. */
void llvm_report_root(const struct llvm_module *module, const struct csn_debug_unit *unit);

/* What is odd in the line table of a unit. */
void llvm_report_lines(const struct llvm_module *module, const struct csn_debug_unit *unit);

#endif
