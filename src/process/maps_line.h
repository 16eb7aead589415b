/* One line of /proc/PID/maps. */
#ifndef CSNI_MAPS_LINE_H
#define CSNI_MAPS_LINE_H

#include <callsign/process.h>

#include "base/core/span.h"

struct csni_maps_line {
    uint64_t start, end, file_off;
    uint64_t inode;          /* 0: no file */
    uint64_t major, minor;   /* of its device; UINT64_MAX: not as the kernel writes them */
    struct csn_str path;     /* empty: none. A newline in it is "\012"; " (deleted)" behind it: the file has no name any more */
    bool exec;
};

/* Without the newline. False: the line is not a mapping. */
bool csni_maps_line_parse(struct csn_str line, struct csni_maps_line *out);

/* Whether the path is that of a file, for the maps. */
static inline bool csni_maps_line_has_file(const struct csni_maps_line *line) {
    const struct csn_str path = line->path;
    return path.len && path.ptr[0] == '/' && !memchr(path.ptr, 0, path.len) && line->start < line->end;
}

static inline struct csn_process_mapping csni_maps_line_mapping(const struct csni_maps_line *line) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.start = line->start;
    mapping.end = line->end;
    mapping.file_off = line->file_off;
    mapping.path = line->path;
    mapping.flags = line->exec ? CSN_MAPPING_EXECUTABLE : 0;
    return mapping;
}

#endif
