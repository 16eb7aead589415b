/* Writing a GSYM file: what gsym_write.c and gsym_write_file.c share. */
#ifndef CSNI_GSYM_WRITER_H
#define CSNI_GSYM_WRITER_H

#include <pthread.h>

#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/write/gsym_write.h"
#include "formats/gsym/write/gsym_write_checkpoints.h"
#include "formats/gsym/write/gsym_write_members.h"
#include "formats/gsym/write/gsym_write_sample.h"
#include "formats/gsym/write/gsym_write_record.h"

enum { CSNI_GSYM_RUN_LENGTH = 1024 }; /* functions */

/* The encoded records of one run of functions. */
struct csni_gsym_run {
    struct csni_gsym_encoded encoded;
    uint64_t *offsets; /* of each function's record within them */
    uint64_t size;     /* of the records; set when they are encoded */
    struct csni_checkpoint_share checkpoints;
    uint32_t first_checkpoint, first_call; /* how many the runs before have */
    bool encoded_all;
};

/* What has been handed to the sink while records are being encoded: by one worker at a time. */
struct csni_gsym_delivery {
    pthread_mutex_t lock;
    uint64_t line_bytes; /* of the runs encoded so far */
    bool placed;         /* it is known where strings and records begin */
    bool busy;           /* a worker delivers */
    bool strings_done;
    size_t next_run;     /* those before it are delivered */
    uint64_t at;         /* where its records go */
};

struct csni_gsym_writer {
    const struct csni_model *model;
    const struct csni_sink *sink;
    unsigned version;
    struct csni_gsym_encoder encoder;
    uint64_t base;
    unsigned addr_size, info_size;
    uint8_t *addresses; /* their table, filled run by run */
    uint64_t *strps; /* by string number of the model */
    uint64_t string_size;
    uint64_t uuid_off, addresses_off, infos_off, files_off, files_end, strings_off, records_off, records_end, end;
    struct csni_gsym_sample_plan sample; /* between files and strings */
    bool plain; /* no checkpoints are wanted */
    unsigned checkpoint_shift; /* 0: the file gets none */
    struct csni_checkpoint_plan checkpoints; /* after the records; their head before the sample */
    struct csni_gsym_run *runs;
    size_t run_count;
    struct csni_gsym_delivery delivery;
};

static inline bool csni_gsym_writer_is_v1(const struct csni_gsym_writer *w) { return w->version == CSNI_GSYM_VERSION_1; }

/* The directory of version 2 with its end. */
static inline unsigned csni_gsym_writer_directory_entries(const struct csni_gsym_writer *w) {
    return w->model->image.uuid.size ? CSNI_GSYM_SECTION_KNOWN : CSNI_GSYM_SECTION_KNOWN - 1;
}

/* ---- gsym_write_file.c ---- */

/* Where sample, strings and records are, if there are so many bytes of line tables. */
void csni_gsym_writer_place(struct csni_gsym_writer *w, uint64_t line_bytes);

/* A run is encoded. Where the sink takes bytes in any order, what can be is delivered: strings first, as soon as it is sure where
 * they begin, then the records of all runs that are there in order. Any worker. */
csn_status csni_gsym_writer_run_done(struct csni_gsym_writer *w, struct csni_gsym_run *run, struct csn_error *err);
/* Where checkpoints and the file end. All runs are encoded and have their places. */
csn_status csni_gsym_writer_plan_checkpoints(struct csni_gsym_writer *w, struct csn_error *err);
/* Writes what has not been delivered. All runs are encoded, and everything has its place. */
csn_status csni_gsym_writer_finish(struct csni_gsym_writer *w, struct csni_pool *pool, struct csn_error *err);

#endif
