/* The checkpoints of a file that is being written (gsym_checkpoint.h tells what they are for). */
#ifndef CSNI_GSYM_WRITE_CHECKPOINTS_H
#define CSNI_GSYM_WRITE_CHECKPOINTS_H

#include "formats/gsym/read/gsym_checkpoint_build.h"
#include "model/model.h"

/* Bytes of code to an entry, as a power of two, by what is known before records are encoded; 0: the file gets none. */
unsigned csni_gsym_checkpoint_shift(const struct csni_model *model);

/* A run of functions whose records are encoded. */
struct csni_gsym_checkpoint_run {
    const struct csni_model *model;
    uint32_t first, count;       /* entries of the model */
    struct csni_span records;
    const uint64_t *offsets;     /* of each one's record in them */
    unsigned strp_size;
    bool big;
};
/* Adds them to the run's share; failure is remembered there. */
void csni_gsym_add_checkpoints(struct csni_checkpoint_share *share, const struct csni_gsym_checkpoint_run *run);

#endif
