/* The list of dialects. */
#include "stack/dialects/dialects.h"

/* What is recognized by more comes first: nearly every line of another dialect may be a plain frame. */
const struct stack_dialect *const stack_dialects[DIALECT_COUNT] = { &sanitizer_dialect, &kernel_dialect, &go_dialect,
                                                                    &perf_dialect, &crash_dialect, &plain_dialect };
