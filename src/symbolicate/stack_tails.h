/* Where tail calls lead. The frame of a function that called another one last is gone: the caller's call site names a
 * function that is not on the stack, and what stands there is what that function called, or what that one called. */
#ifndef CSNI_STACK_TAILS_H
#define CSNI_STACK_TAILS_H

#include "symbolicate/place.h"

struct csn_symbolicator;

/* The functions of one index that make tail calls, by name: made when the first stack asks, once. */
struct csni_tail_entry {
    uint64_t hash;      /* of the name */
    uint32_t function;  /* in the index */
    uint32_t child;     /* 0: itself, else the merged function of that number, from 1 */
};
struct csni_tail_table {
    const struct csn_index *index;
    struct csni_tail_entry *entries; /* by hash */
    size_t count;
    bool given_up;                   /* too much to look at: nothing is known */
};

/* A function that can stand on the stack in place of another one. */
struct csni_tail_end {
    struct csn_str name;
    uint64_t hash;     /* of the name */
    uint32_t module;   /* it can be in that one only, or CSNI_NO_MODULE: in any */
    uint32_t start;    /* the pattern that it begins with */
    uint32_t calls;    /* tail calls up to here; 0: named by the pattern itself */
    bool known;        /* an index tells its tail calls, or who calls it so */
};
enum { CSNI_TAIL_ENDS_KEPT = 64 };
struct csni_tails {
    struct csni_tail_end ends[CSNI_TAIL_ENDS_KEPT];
    uint32_t count;    /* 0: nothing is known */
    uint32_t notes;
};

/* What can be reached by tail calls from the functions that `say` names, whose caller is in `module`. All of the patterns must be
 * exact names, and each function must be one of which tail calls are known, or be reached from one of those: else nothing
 * is known, as where one of the calls is indirect. False: no memory. */
bool csni_tails_follow(struct csn_symbolicator *s, const struct csni_say *say, uint32_t module, uint64_t *work,
                       struct csni_tails *out);

/* What can be reached from one function of which records are at hand: those of a place with that name. What follows an
 * indirect call is missing; with CSN_STACK_NOTE_LIMIT more is. */
bool csni_tails_of_name(struct csn_symbolicator *s, const struct csni_place *place, uint32_t name, uint32_t module,
                        uint64_t *work, struct csni_tails *out);

/* The first end that can be the function `name` of a place in `module`, after at least one tail call; NULL: none. */
const struct csni_tail_end *csni_tails_find(const struct csni_tails *tails, struct csn_str name, uint32_t module);

void csni_tails_forget(struct csn_symbolicator *s);

#endif
