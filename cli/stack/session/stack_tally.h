/* How many stacks and frames were answered, and why others were not. */
#ifndef CALLSIGN_CLI_STACK_TALLY_H
#define CALLSIGN_CLI_STACK_TALLY_H

#include <callsign/symbolicate.h>

#include "stack/session/frame_symbols.h"

enum { TALLY_REASONS = 32 };

struct stack_tally {
    uint64_t stacks, frames, named;
    uint64_t reasons[TALLY_REASONS]; /* by enum csn_reason */
    uint64_t damaged;                /* the index has an error there */
    uint64_t no_function, same_name; /* of frames that are names: the index has none of it, or several */
    uint64_t elsewhere;              /* the index has another function at the frame's address */
};

void tally_stack(struct stack_tally *tally, const struct csn_stack_answer *answers, size_t count,
                 const struct frame_symbols *symbols);
void tally_add(struct stack_tally *tally, const struct stack_tally *other);
/* "2 stacks, 9 frames: 7 named, 2 not (2: there is no index for the module)" on stderr. */
void tally_report(const struct stack_tally *tally);

#endif
