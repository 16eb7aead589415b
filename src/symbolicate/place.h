/* What an index has at one address: frames, the functions folded together there, and what a call there says. */
#ifndef CSNI_PLACE_H
#define CSNI_PLACE_H

#include <callsign/symbolicate.h>

#include "base/arena.h"

/* What the call sites of one return address say together. */
struct csni_say {
    const struct csn_str *patterns;
    uint32_t pattern_count;
    uint32_t flags;  /* CSN_CALL_SITE_, of all of them */
    uint32_t notes;  /* CSN_STACK_NOTE_: why there are no patterns, or not all */
    bool known;      /* a call site is there */
    bool kept;       /* with the place, for the next time */
};

struct csni_sibling {
    struct csn_frame *frames;
    uint32_t count;
    csn_status status;
    const char *error;
};

/* What every stack reads stands first and together: places are all over the memory. */
struct csni_place {
    const struct csn_index *index;
    uint64_t addr;                  /* that was looked up */
    struct csn_str *names;          /* none twice */
    uint32_t frame_count, name_count, record_count;
    uint32_t reason;
    csn_status status;
    bool truncated;                 /* there are more records than are looked at */
    uint8_t shift;                  /* the address came as addr + shift: offsets of frames are counted to there */
    struct csn_str own_name, own_pattern; /* where there is only one: `names` and `say` point to them */
    struct csni_say say;            /* of the index's own function, see csni_place_ask() */
    struct csn_frame *frames;       /* of the index's own function */
    uint64_t start;                 /* of the function */
    const char *error;
    struct csn_record *records;     /* the index's own function and all that are folded into it */
    const uint32_t *name_of;        /* by record: place in names */
    struct csni_sibling *siblings;  /* by record: frames of functions that are folded away; NULL until one is shown */
    struct csni_say *says;          /* of functions that are folded away, by record; NULL until one is asked */
};

enum { CSNI_RECORDS_MAX = 1 << 16 };

/* Takes steps of the work that one stack may cause; false when it is used up. */
static inline bool csni_spend(uint64_t *work, uint64_t steps) {
    bool enough = *work >= steps;
    *work = enough ? *work - steps : 0;
    return enough;
}

/* Looks `addr` up. Damage is part of the answer; CSN_E_MEMORY only is a failure. */
csn_status csni_place_find(const struct csn_index *index, uint64_t addr, unsigned shift, struct csni_arena *arena,
                           uint64_t *work, struct csni_place *out);

/* The frames of record `k` > 0. NULL: no memory. */
const struct csni_sibling *csni_place_sibling(struct csni_place *place, uint32_t k, struct csni_arena *arena,
                                              uint64_t *work);

/* Adds to `out` what record `k` says of a call that returns to `ret` (or to ret + 1, with `either`). False: no memory. */
bool csni_place_say(const struct csni_place *place, uint32_t k, uint64_t ret, bool either, struct csni_arena *arena,
                    uint64_t *work, struct csni_say *out);

/* What record `k` says of a call that returns to the place, as csni_place_say(). It is kept with the place, in `kept`, unless
 * that depends on more than the place; what is not kept is in `arena`. */
bool csni_place_ask(struct csni_place *place, uint32_t k, bool either, struct csni_arena *kept, struct csni_arena *arena,
                    uint64_t *work, struct csni_say *out);

#endif
