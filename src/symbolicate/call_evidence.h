/* What is known of a callee from the call sites of its caller, at one return address. */
#ifndef CSNI_CALL_EVIDENCE_H
#define CSNI_CALL_EVIDENCE_H

#include <callsign/inspect.h>
#include <callsign/symbolicate.h>

#include "base/arena.h"
#include "base/core/budget.h"

struct csni_call_evidence {
    const struct csn_str *patterns; /* for the callee's name, of all call sites of the return address */
    uint32_t pattern_count;
    uint32_t flags;  /* CSN_CALL_SITE_, of all of them */
    uint32_t notes;  /* CSN_STACK_NOTE_: why there are no patterns, or not all */
    bool known;      /* there is a call site */
    bool cached;     /* with the caller's site */
};

/* Reads the call sites of `record` that return to `ret` (or to ret + 1, with `either`). Patterns are views into the index, in
 * an array in `arena`. False: no memory. */
bool csni_call_evidence_read(const struct csn_index *index, const struct csn_record *record, uint64_t ret, bool either,
                             struct csni_arena *arena, struct csni_budget *budget, struct csni_call_evidence *out);

#endif
