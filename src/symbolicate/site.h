/* A site: an address that was looked up in one index, with its frames and the functions folded together there. */
#ifndef CSNI_SITE_H
#define CSNI_SITE_H

#include <callsign/inspect.h>
#include <callsign/symbolicate.h>

#include "base/arena.h"
#include "base/core/budget.h"
#include "symbolicate/call_evidence.h"

/* The frames of a function that was folded away. */
struct csni_folded_frames {
    struct csn_frame *frames;
    uint32_t count;
    csn_status status;
    const char *error;
};

/* What every stack reads comes first, together: sites are spread over memory. */
struct csni_site {
    const struct csn_index *index;
    uint64_t addr;                  /* that was looked up */
    struct csn_str *names;          /* of the candidates, each once */
    uint32_t frame_count, name_count, record_count;
    uint32_t reason;
    csn_status status;
    bool truncated;                 /* there are more records than are looked at */
    bool is_signal_frame;           /* the frame outside of it was interrupted, see csn_is_signal_frame() */
    bool ends;                      /* the function has no byte after `addr`, or there is no function */
    uint8_t shift;                  /* the frame's address is addr + shift; offsets of frames count to there */
    struct csn_str own_name, own_pattern; /* storage of `names` and `evidence.patterns` where there is only one */
    struct csni_call_evidence evidence; /* of the index's own function, see csni_site_evidence() */
    struct csn_frame *frames;       /* of the index's own function */
    uint64_t start;                 /* of the function */
    const char *error;
    struct csn_record *records;     /* the index's own function, then those folded into it */
    const uint32_t *name_of;        /* by record: index in names */
    struct csni_folded_frames *folded_frames;    /* by record; NULL until one is shown */
    struct csni_call_evidence *folded_evidence;  /* by record; NULL until one is read */
};

enum { CSNI_RECORDS_MAX = 1 << 16 };

/* Looks `addr` up. Damage is part of the answer; only CSN_E_MEMORY is a failure. With a budget of 0 afterwards
 * the site may be incomplete. */
csn_status csni_site_locate(const struct csn_index *index, uint64_t addr, unsigned shift, struct csni_arena *arena,
                            struct csni_budget *budget, struct csni_site *out);

/* The frames of record `k` > 0. NULL: no memory. */
const struct csni_folded_frames *csni_site_folded_frames(struct csni_site *site, uint32_t k, struct csni_arena *arena,
                                                         struct csni_budget *budget);

/* The evidence of record `k` about a call that returns to the site's frame. Cached with the site, in `kept`, unless the budget
 * cut it short or it depends on the frame; what is not cached is in `arena`. False: no memory. */
bool csni_site_evidence(struct csni_site *site, uint32_t k, bool either, struct csni_arena *kept, struct csni_arena *arena,
                        struct csni_budget *budget, struct csni_call_evidence *out);

#endif
