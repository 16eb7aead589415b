/* The file that a running process has mapped: the one, whatever has its path by now or here. */
#ifndef CSNI_LIVE_FILE_H
#define CSNI_LIVE_FILE_H

#include <callsign/process.h>

#include "base/core/file_map.h"
#include "base/core/span.h"

enum { CSNI_LIVE_PATH_SIZE = 4096 };

/* Which file a mapping is of, by the maps of the process. */
struct csni_live_node {
    uint64_t running_pid; /* 0: the mapping is not of a running process */
    uint64_t major, minor, inode;
};

struct csni_live_file {
    struct csni_live_node node;
    struct csn_str path;  /* by the maps */
    uint64_t start, end;  /* of one of its mappings */
    uint64_t head, head_size; /* where its first byte is mapped; size 0: nowhere */
};

/* How it was opened. */
struct csni_live_opened {
    struct csni_file_map map;
    char path[CSNI_LIVE_PATH_SIZE];
    uint8_t memory_id[CSN_BUILD_ID_MAX]; /* the build id in the process's memory, as far as it was wanted */
    size_t memory_id_size;
};

/* Opens it by the first of these that is that file: its path, the path in the root of the process, /proc/PID/exe,
 * /proc/PID/map_files. By device and inode; where the maps have other numbers than stat(), as of overlayfs and btrfs, by those
 * that the maps of this process then have. Or else a file at its path whose build id is that in the process's memory.
 * CSN_OK: the caller closes out->map. CSN_E_NOT_FOUND: there is none, *err says why, and out->memory_id may be known.
 * CSN_E_MEMORY. CSN_E_UNSUPPORTED: not on this system. */
csn_status csni_live_file_open(const struct csni_live_file *file, const struct csn_allocator *alloc, struct csni_live_opened *out,
                               struct csn_error *err);

#endif
