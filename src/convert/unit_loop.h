/* The loop over the units of one struct csni_dwarf. */
#ifndef CSNI_UNIT_LOOP_H
#define CSNI_UNIT_LOOP_H

#include "convert/split_units.h"

struct csni_unit_loop {
    struct csni_conversion *conversion;
    struct csni_object *object;
    const struct csni_address_map *map;

    /* Set these for each run. */
    uint32_t info_section;           /* of the object */
    struct csni_dwarf *dwarf;        /* its units are prepared, as far as they can be */
    uint32_t first_unit;             /* those before it are done already */
    bool discard;                    /* .debug_info is given back as units are done */
    enum csni_lasting lasting;
    struct csni_split_units *split;  /* NULL: no unit is a skeleton */
    csni_pool_task *beside;          /* NULL, or what one worker does besides: an item of its own, with number 0 */
    void *beside_context;

    /* Of a run. */
    struct csni_unit_job *jobs;      /* one per worker */
    struct unit_key *order;
    uint32_t count;                  /* of units in `order` */
    uint8_t *done;                   /* by unit */
    uint32_t given_back, done_until; /* units before these are */
    pthread_mutex_t lock;            /* of the three above */
    struct csni_batch *batches;      /* by unit, from first_unit on */
    atomic_uint failed;              /* units, of all runs */
};
void csni_unit_loop_init(struct csni_unit_loop *loop, struct csni_conversion *c, const struct csni_dwarf_input *input);
void csni_unit_loop_deinit(struct csni_unit_loop *loop);

/* Adds a batch for each unit from first_unit on and fills them; loop->batches are valid until more are added. */
csn_status csni_unit_loop_run(struct csni_unit_loop *loop, struct csn_error *err);

#endif
