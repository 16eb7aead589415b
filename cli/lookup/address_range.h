/* All rows of a range of addresses. */
#ifndef CALLSIGN_CLI_ADDRESS_RANGE_H
#define CALLSIGN_CLI_ADDRESS_RANGE_H

#include <stdbool.h>

#include <callsign/inspect.h>

/* The addresses in [start, end) at which the answer may change: starts and ends of functions, of rows and of inlined calls,
 * and `start` itself. Function by function, so that memory stays small. */
struct range_steps {
    const struct csn_index *index;
    uint64_t start, end;
    uint32_t function, function_count;  /* the next one */
    uint64_t *addrs;                    /* of one function, ascending */
    size_t count, next, capacity;
    uint64_t last;                      /* given before; UINT64_MAX: none */
    uint64_t limited, most;             /* the last address of functions that start at `limited`, if `has_limit` */
    bool has_limit;
    bool no_memory;
};

void range_steps_init(struct range_steps *steps, const struct csn_index *index, uint64_t start, uint64_t end);
void range_steps_deinit(struct range_steps *steps);
/* Ascending. False: there are no more, or `no_memory`. */
bool range_steps_next(struct range_steps *steps, uint64_t *out);

#endif
