/* The inside of choosing among merged functions: what a caller says of its callee (stack_caller.c), which of the callee's
 * candidates that allows (stack_match.c), and what follows for the whole stack (stack_choose.c). */
#ifndef CSNI_STACK_CHOOSE_H
#define CSNI_STACK_CHOOSE_H

#include "symbolicate/symbolicator.h"

struct csni_stack_walk {
    struct csn_symbolicator *s;
    const struct csni_stack_place *places;
    struct csn_stack_answer *answers;
    size_t count;
    uint64_t *work;
};

/* What call sites say of the callee of frame `caller`. False: no memory. */
bool csni_stack_ask_caller(struct csni_stack_walk *walk, size_t caller, struct csni_say *out);

/* The candidates that patterns allow. */
struct csni_stack_match {
    uint32_t *names;       /* places in the candidates */
    uint32_t count;
    bool *used;            /* by pattern: it holds for one of the names; NULL: not asked for */
    uint32_t pattern;      /* one that holds for the last name found */
    uint32_t tail_calls;   /* from the function of that pattern to the last name found */
    uint32_t notes;
    bool unknown;          /* a pattern could not be used: nothing is ruled out */
};
/* False, for all three: no memory. */
bool csni_stack_match(struct csni_stack_walk *walk, const struct csni_place *place, const struct csni_say *say,
                      bool want_used, struct csni_stack_match *out);
/* The call site of frame i + 1 names none of the candidates of frame i: perhaps those that it names made a tail call. */
bool csni_stack_match_tails(struct csni_stack_walk *walk, size_t i, const struct csni_say *say,
                            struct csni_stack_match *match);
/* One that is named may have made a tail call to another one of the same code. */
bool csni_stack_match_behind(struct csni_stack_walk *walk, const struct csni_stack_place *callee,
                             struct csni_stack_match *match);

#endif
