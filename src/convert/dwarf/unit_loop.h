/* The loop over the units of one struct csni_dwarf, all of which is there. */
#ifndef CSNI_UNIT_LOOP_H
#define CSNI_UNIT_LOOP_H

#include <stdatomic.h>

#include "convert/dwarf/split_units.h"
#include "convert/dwarf/unit_workers.h"

struct csni_unit_loop {
    struct csni_unit_workers *workers;
    struct csni_object *object;
    uint32_t info_section;           /* of the object */
    struct csni_dwarf *dwarf;        /* its units are prepared, as far as they can be */
    uint32_t first_unit;             /* those before it are done already */
    bool discard;                    /* .debug_info is given back as units are done */
    enum csni_string_lifetime lifetime;
    struct csni_split_units *split;  /* NULL: no unit is a skeleton */

    /* Of the run. */
    struct unit_key *order;
    uint32_t count;                  /* of units in `order` */
    uint8_t *done;                   /* by unit */
    uint32_t given_back, done_until; /* units before these are */
    pthread_mutex_t lock;            /* of the three above */
    struct csni_batch *batches;      /* by unit, from first_unit on */
    atomic_uint failed;              /* units that could not be read at all */
};

/* Adds a batch for each unit from first_unit on and fills them; loop->batches are valid until more are added. */
csn_status csni_unit_loop_run(struct csni_unit_loop *loop, struct csn_error *err);

#endif
