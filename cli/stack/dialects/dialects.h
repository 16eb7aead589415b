/* All dialects of text. */
#ifndef CALLSIGN_CLI_DIALECTS_H
#define CALLSIGN_CLI_DIALECTS_H

#include "stack/stack_dialect.h"

extern const struct stack_dialect plain_dialect, perf_dialect, sanitizer_dialect, kernel_dialect, go_dialect,
    crash_dialect;

/* In the order in which they are tried. */
enum { DIALECT_COUNT = 6 };
extern const struct stack_dialect *const stack_dialects[DIALECT_COUNT];

#endif
