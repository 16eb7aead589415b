/* Frames filled in within the lines that they came in. */
#ifndef CALLSIGN_CLI_STACK_FILL_H
#define CALLSIGN_CLI_STACK_FILL_H

#include "stack/dialects/stack_dialect.h"

/* Writes the line of frame `frame`, with its name in the place that its dialect has for it. A frame that nothing is known
 * of, or whose name cannot be chosen, keeps its line. `line` is whole, its newline included. */
void fill_line(struct stack_output *output, const struct stack_session *session, size_t frame, enum fill_style style,
               struct csn_str line, const struct line_frame *at);

#endif
