/* A file that is read in blocks when they are needed. It has its whole size in memory; a block that has not arrived reads as zero.
 *
 * Readers look for nothing before they read. Who runs one asks afterwards which blocks it has read too early
 * (csni_remote_file_take_missing()), and runs it again once they are there. Readers bear any bytes, so what they make of zeros is
 * only thrown away. */
#ifndef CSNI_REMOTE_FILE_H
#define CSNI_REMOTE_FILE_H

#include <callsign/remote.h>

#include "base/core/span.h"

/* The beginning of a file, which is read with its first request: of ceph-osd's index all tables and the strings that
 * most stacks need. */
enum { CSNI_REMOTE_BLOCK = 1 << 13, CSNI_REMOTE_HEAD = 50 * CSNI_REMOTE_BLOCK };

struct csni_remote_file {
    const struct csn_allocator *allocator;
    csn_remote_callback *read;
    void *context;
    struct csni_span bytes;      /* the whole file */
    size_t reserved;             /* bytes of memory */
    size_t block_count, kept;    /* blocks; of them in memory */
    uint8_t *states;             /* of each block: enum block_state */
    unsigned char *touched;      /* of each page of a group of blocks */
    size_t page;                 /* bytes */
    bool is_known;               /* its size is */
    bool sees_touches;           /* the kernel tells which pages have been read */
    struct csn_remote_file version; /* as the first answer had it */
    uint64_t requests, received;
    csn_status status;           /* below 0: reading has failed for good */
    struct csn_error failure;
};

/* Reads the beginning, CSNI_REMOTE_HEAD bytes. Releases everything on failure. */
csn_status csni_remote_file_open(struct csni_remote_file *file, struct csn_error *err);
void csni_remote_file_close(struct csni_remote_file *file);

/* Marks the blocks of a range, which may go beyond the end of the file, as wanted. True: one of them is missing. */
bool csni_remote_file_want(struct csni_remote_file *file, uint64_t offset, uint64_t size);
/* Whether all of a range has arrived. */
bool csni_remote_file_has(const struct csni_remote_file *file, uint64_t offset, uint64_t size);
/* Marks blocks that have been read although they are missing. True: there are some. */
bool csni_remote_file_want_touched(struct csni_remote_file *file);
/* Bytes that a first lookup may still read. */
uint64_t csni_remote_file_spare(const struct csni_remote_file *file);
/* Reads what is wanted. */
csn_status csni_remote_file_fetch(struct csni_remote_file *file, struct csn_error *err);

#endif
