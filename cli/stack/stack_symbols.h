/* Functions of an index by their names: for dialects that print no addresses. */
#ifndef CALLSIGN_CLI_STACK_SYMBOLS_H
#define CALLSIGN_CLI_STACK_SYMBOLS_H

#include "stack/dialects/stack_dialect.h"

/* A frame at line->value behind the start of line->symbol. Of several functions of that name, the ones whose next symbol
 * stands at the size that the line says; where still several remain, the frame says how many and has no function. */
bool symbols_add_frame(struct dialect_state *state, const struct line_frame *line, uint32_t module);
/* The address at line->symbol_offset behind the start of line->symbol; false: there is none of that name, or several. */
bool symbols_find(struct dialect_state *state, const struct csn_index *index, const struct line_frame *line, uint64_t *addr);
void symbols_deinit(struct dialect_state *state);

#endif
