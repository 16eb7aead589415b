/* The mappings of a running process. */
#include <callsign/process.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "base/core/span.h"

csn_status csn_process_maps_add_live(struct csn_process_maps *maps, uint64_t pid, uint64_t running_pid, struct csn_error *err) {
    char path[64];
    struct csni_file_map map;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/maps", running_pid);
    CSNI_TRY(csni_file_map_open(&map, path, err));
    const struct csn_str text = { (const char *)map.bytes.ptr, map.bytes.size };
    csn_status status = csn_process_maps_add_text(maps, pid, text, NULL, err);
    csni_file_map_close(&map);
    return status;
}
