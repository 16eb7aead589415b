/* The evidence of a frame's caller, which may be one of several functions. */
#ifndef CSNI_CALLER_EVIDENCE_H
#define CSNI_CALLER_EVIDENCE_H

#include "symbolicate/stack_walk.h"

/* The evidence of frame `caller` about the frame before it. False: no memory. */
bool csni_caller_evidence(struct csni_stack_walk *walk, size_t caller, struct csni_call_evidence *out);

#endif
