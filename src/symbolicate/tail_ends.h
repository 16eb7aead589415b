/* Where tail calls lead. The frame of a function that called another one last is gone: the caller's call site names a
 * function that is not on the stack, and what stands there is what that function called, or what that one called. */
#ifndef CSNI_TAIL_ENDS_H
#define CSNI_TAIL_ENDS_H

#include "symbolicate/stack_walk.h"

/* A function that can stand on the stack in place of another one. */
struct csni_tail_end {
    struct csn_str name;
    uint64_t hash;     /* of the name */
    uint32_t module;   /* it can be in that one only, or CSNI_NO_MODULE: in any */
    uint32_t start;    /* the pattern that it begins with */
    uint32_t calls;    /* tail calls up to here; 0: named by the pattern itself */
    bool known;        /* an index has its tail calls, or tail calls of it */
};
enum { CSNI_TAIL_ENDS_MAX = 64 };
struct csni_tail_ends {
    struct csni_tail_end ends[CSNI_TAIL_ENDS_MAX];
    uint32_t count;    /* 0: nothing is known */
    uint32_t notes;
};

/* What tail calls reach from the functions that `evidence` names, whose caller is in `module`. All of the patterns must be
 * exact names, and each function must be one whose tail calls are known, or be reached from one of those: otherwise nothing
 * is known, as where one of the jumps is indirect. False: no memory. */
bool csni_tail_ends_follow(struct csni_stack_walk *walk, const struct csni_call_evidence *evidence, uint32_t module,
                            struct csni_tail_ends *out);

/* What tail calls reach from one candidate of a site. What follows an indirect jump is missing; with CSN_STACK_NOTE_LIMIT more
 * is. */
bool csni_tail_ends_of_candidate(struct csni_stack_walk *walk, const struct csni_site *site, uint32_t name,
                                  uint32_t module, struct csni_tail_ends *out);

/* The first end that can be the function `name` of a site in `module`, after at least one tail call; NULL: none. */
const struct csni_tail_end *csni_tail_ends_find(const struct csni_tail_ends *tails, struct csn_str name, uint32_t module);

#endif
