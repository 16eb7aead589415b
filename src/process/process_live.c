/* The mappings of a running process. */
#include "process/process_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "process/live_file.h"
#include "process/maps_line.h"

/* Ends at the newline alone: a path may end in other blanks. */
static bool next_line(struct csni_span *rest, struct csn_str *out) {
    if (!rest->size) return false;
    const uint8_t *end = memchr(rest->ptr, '\n', rest->size);
    const size_t len = end ? (size_t)(end - rest->ptr) : rest->size;
    *out = (struct csn_str){ (const char *)rest->ptr, len };
    *rest = csni_span_from(*rest, end ? len + 1 : len);
    return true;
}

/* Elsewhere the files are those at their paths. */
static struct csni_live_node node_of(uint64_t running_pid, const struct csni_maps_line *line) {
#ifdef __linux__
    return (struct csni_live_node){ running_pid, line->major, line->minor, line->inode };
#else
    (void)running_pid, (void)line;
    return (struct csni_live_node){ .running_pid = 0 };
#endif
}

static csn_status add_lines(struct csn_process_maps *maps, uint64_t pid, uint64_t running_pid, struct csni_span text,
                            struct csn_error *err) {
    struct csni_maps_line parsed;
    struct csn_str line;
    while (next_line(&text, &line)) {
        if (!csni_maps_line_parse(line, &parsed) || !csni_maps_line_has_file(&parsed)) continue;
        const struct csn_process_mapping mapping = csni_maps_line_mapping(&parsed);
        const struct csni_live_node node = node_of(running_pid, &parsed);
        CSNI_TRY(csni_process_maps_add_live_mapping(maps, pid, &mapping, &node, err));
    }
    return CSN_OK;
}

csn_status csn_process_maps_add_live(struct csn_process_maps *maps, uint64_t pid, uint64_t running_pid, struct csn_error *err) {
    char path[64];
    struct csni_file_map map;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", running_pid);
    CSNI_TRY(csni_file_map_open(&map, path, err));
    csn_status status = add_lines(maps, pid, running_pid, map.bytes, err);
    csni_file_map_close(&map);
    return status;
}
