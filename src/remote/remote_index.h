/* What an index that is read from afar consists of. */
#ifndef CSNI_REMOTE_INDEX_H
#define CSNI_REMOTE_INDEX_H

#include <pthread.h>

#include "index/index_private.h"
#include "remote/remote_file.h"
#include "remote/remote_names.h"

struct csni_remote {
    struct csni_remote_file file;
    struct csn_index *inner;      /* the index over the file's memory */
    pthread_mutex_t turn;         /* of calls that may read */
    struct csni_gsym_accel accel; /* of the inner index, which has it only while a plan wants it: csni_remote_plan() */
    bool has_near;                /* blocks of the accelerator have what their stacks need nearby */
    struct csni_remote_names names;
    bool has_tables;              /* of GSYM: they were read with the beginning */
    struct csni_remote_http *http; /* NULL: the caller's callback reads */
};

extern const struct csni_index_format csni_index_remote;

#endif
