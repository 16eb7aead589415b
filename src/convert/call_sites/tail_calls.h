/* Where tail calls lead. */
#ifndef CSNI_TAIL_CALLS_H
#define CSNI_TAIL_CALLS_H

#include "convert/conversion.h"

struct csni_tail_call {
    uint64_t hash;             /* of the name of the function that makes it */
    struct csn_str callee;     /* empty: not known */
    uint32_t batch, site;      /* for the order */
};
struct csni_tail_calls {
    CSNI_VEC(struct csni_tail_call) items; /* by hash, then in order of input */
};
csn_status csni_tail_calls_find(struct csni_tail_calls *calls, const struct csni_conversion *c, struct csn_error *err);
enum { CSNI_TAIL_ENDS_MAX = 8 };
/* Names of functions that run in place of `name` when it was called: those that it calls last, and so on. 0: none, or they
 * cannot all be told. */
size_t csni_tail_calls_ends(const struct csni_tail_calls *calls, struct csn_str name,
                            struct csn_str out[CSNI_TAIL_ENDS_MAX]);

#endif
