/* One stack while it is answered. */
#ifndef CSNI_STACK_WALK_H
#define CSNI_STACK_WALK_H

#include "base/core/budget.h"
#include "symbolicate/symbolicator.h"

struct csni_frame_state {
    struct csni_site *site;   /* NULL: no module, or no index */
    uint64_t addr;            /* of the frame */
    uint64_t hash;            /* of the site */
    uint32_t module;          /* CSNI_NO_MODULE: none */
    bool exact;               /* not a return address */
    bool either;              /* perhaps the byte before a return address */
    bool stepped;             /* it is at the byte after its pc: a return address, of which CSN_STACK_BEFORE had taken one off */
    bool unreliable;          /* no part of the chain of calls */
    uint8_t shift;            /* it is looked up at that many bytes before */
};

struct csni_stack_walk {
    struct csn_symbolicator *s;
    struct csni_frame_state *frames;
    struct csn_stack_answer *answers;
    size_t count;
    struct csni_budget *budget;
    uint32_t *tail_tables;    /* by module: 1 + number of its table, 0: none; NULL until they are needed */
};

#endif
