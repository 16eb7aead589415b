/* Files that a caller opens once and uses for several calls. */
#include <callsign/base.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "base/core/file_map.h"

struct csn_file {
    struct csni_file_map map;
};

csn_status csni_file_of_map(struct csni_file_map *map, struct csn_file **out, struct csn_error *err) {
    struct csn_file *file = csni_alloc(NULL, sizeof *file);
    if (!file) return csni_fail_memory(err, sizeof *file);
    file->map = *map;
    *out = file;
    return CSN_OK;
}

csn_status csn_file_open(const char *path, struct csn_file **out, struct csn_error *err) {
    struct csn_file *file = csni_alloc(NULL, sizeof *file);
    if (!file) return csni_fail_memory(err, sizeof *file);
    csn_status status = csni_file_map_open(&file->map, path, err);
    if (status < 0) csni_free(NULL, file, sizeof *file);
    else *out = file;
    return status;
}

void csn_file_close(struct csn_file *file) {
    if (!file) return;
    csni_file_map_close(&file->map);
    csni_free(NULL, file, sizeof *file);
}

const void *csn_file_bytes(const struct csn_file *file) { return file->map.bytes.ptr; }

size_t csn_file_size(const struct csn_file *file) { return file->map.bytes.size; }
