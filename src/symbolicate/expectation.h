/* What external call sites expect further in. The library that is called may call back: the function that the call site names
 * then stands some frames further in. */
#ifndef CSNI_EXPECTATION_H
#define CSNI_EXPECTATION_H

#include "symbolicate/caller_evidence.h"
#include "symbolicate/candidate_match.h"

struct csni_expectation {
    struct csni_call_evidence *own; /* by function that the expecting frame may be: patterns that are not met yet */
    uint32_t own_count;
    uint32_t frame;                 /* whose call site it is */
    uint32_t module;                /* of that frame */
    uint32_t met_in;                /* module of the callee proper, if the call site names it too; else CSNI_NO_MODULE */
};

/* The outermost first; one for each module at most. */
enum { CSNI_EXPECTATIONS_MAX = 16 };
struct csni_expectations {
    struct csni_expectation items[CSNI_EXPECTATIONS_MAX];
    uint32_t count;
};

/* What the caller of frame `i` expects beyond that frame. `match`: the candidates that all its evidence allows
 * there, or NULL if they are not known. Of too many expectations the outermost is dropped. False: no memory. */
bool csni_expectations_add(struct csni_expectations *expectations, struct csni_stack_walk *walk, size_t i,
                           const struct csni_caller_evidence *caller, const struct csni_candidate_match *match);

/* Narrows the candidates of frame `i` that its caller left, from the nearest expectation outwards. One that is met, or whose
 * module the frame is in, ends. False: no memory. */
bool csni_expectations_apply(struct csni_expectations *expectations, struct csni_stack_walk *walk, size_t i);

#endif
