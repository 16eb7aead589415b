/* Expressions and lists of locations as LLVM's dumper writes them. */
#ifndef CALLSIGN_CLI_GSYM_EXPRESSION_H
#define CALLSIGN_CLI_GSYM_EXPRESSION_H

#include "stand_ins/gsymutil/gsym_dwarf.h"

void gsym_put_expression(const struct gsym_unit *unit, struct csn_str bytes);
/* The list at an offset of .debug_loc, as in DWARF 2 to 4: nothing if there is none. */
void gsym_put_locations(const struct gsym_unit *unit, uint64_t off);

#endif
