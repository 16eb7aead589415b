/* Which candidates of a frame patterns allow: by their names, or by the tail calls that lead to them. */
#ifndef CSNI_CANDIDATE_MATCH_H
#define CSNI_CANDIDATE_MATCH_H

#include "symbolicate/stack_walk.h"

/* The candidates that patterns allow. */
struct csni_candidate_match {
    uint32_t *names;       /* indexes of candidates */
    uint32_t count;
    bool *used;            /* by pattern: it holds for one of the names; NULL: not wanted */
    uint32_t pattern;      /* one that holds for the last name found */
    uint32_t tail_calls;   /* from the function of that pattern to the last name found */
    uint32_t notes;
    bool unknown;          /* a pattern could not be used: nothing is ruled out */
};
/* False, for all three: no memory. */
bool csni_match_candidates(struct csni_stack_walk *walk, const struct csni_site *site,
                           const struct csni_call_evidence *evidence, bool want_used, struct csni_candidate_match *out);
/* The call site of frame i + 1 names none of the candidates of frame i: perhaps those that it names made a tail call. */
bool csni_match_tail_calls(struct csni_stack_walk *walk, size_t i, const struct csni_call_evidence *evidence,
                           struct csni_candidate_match *match);
/* One that is named may have made a tail call to another one of the same code. */
bool csni_match_tail_called_siblings(struct csni_stack_walk *walk, const struct csni_frame_state *callee,
                                    struct csni_candidate_match *match);

#endif
