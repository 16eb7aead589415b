#ifndef CALLSIGN_CLI_PERF_FILL_H
#define CALLSIGN_CLI_PERF_FILL_H

#include "stack/lines/stack_fill.h"

/* As perf writes them: inlined calls first, "(inlined)" for their image. Those that perf or an earlier run wrote stay. */
void perf_fill(struct line_filler *filler);

#endif
