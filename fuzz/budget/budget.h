/* What an input of `size` bytes may take: milliseconds of processor time, and `ns_per_byte` * size more; KiB of heap at a
 * time, and `bytes_per_byte` * size more; `window_kib` more where a stream of xz or zstd begins, whose first bytes say how
 * large a window its decoder needs. */
#ifndef CALLSIGN_FUZZ_BUDGET_H
#define CALLSIGN_FUZZ_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_budget {
    const char *target;
    uint64_t ms, ns_per_byte, kib, bytes_per_byte, window_kib;
};

/* Ends with a row without a target. */
extern const struct fuzz_budget fuzz_budgets[];

#endif
