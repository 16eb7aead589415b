/* The evidence of a frame's caller, which may be one of several functions. */
#ifndef CSNI_CALLER_EVIDENCE_H
#define CSNI_CALLER_EVIDENCE_H

#include "symbolicate/stack_walk.h"

struct csni_caller_evidence {
    struct csni_call_evidence whole;      /* of all functions that the caller may be: they agree about the callee */
    const struct csni_call_evidence *own; /* of each of them: what it expects further in */
    uint32_t own_count;                   /* 0: nothing can be expected */
};

/* The evidence of frame `caller` about the frame before it. `out` must stay where it is. False: no memory. */
bool csni_caller_evidence(struct csni_stack_walk *walk, size_t caller, struct csni_caller_evidence *out);

#endif
