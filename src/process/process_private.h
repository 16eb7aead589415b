/* What the files of src/process/ share. */
#ifndef CSNI_PROCESS_PRIVATE_H
#define CSNI_PROCESS_PRIVATE_H

#include <callsign/process.h>

#include "base/core/span.h"

const struct csn_allocator *csni_process_maps_allocator(const struct csn_process_maps *maps);
/* The start of the first mapping of the process behind `start`; UINT64_MAX: there is none. */
uint64_t csni_process_maps_next_start(const struct csn_process_maps *maps, uint64_t pid, uint64_t start);

/* Whether there is a file at the path that begins with other bytes. */
bool csni_process_maps_file_differs(const struct csn_process_maps *maps, struct csn_str path, struct csni_span beginning);
/* Adds a mapping of a core dump; other_file: the file at its path is not the one that was mapped. */
csn_status csni_process_maps_add_core_mapping(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *mapping, bool other_file, struct csn_error *err);

/* The file of images of that path and build id (which may be empty): what was named for it, or else what is there.
 * CSN_OK; CSN_NONE: it cannot be read; CSN_E_MEMORY. *out lives until the maps are used again. */
struct csni_process_image;
csn_status csni_process_maps_image(struct csn_process_maps *maps, struct csn_str path, struct csni_span build_id,
                                   const struct csni_process_image **out);

/* Adds a mapping of a running process. */
struct csni_live_node;
csn_status csni_process_maps_add_live_mapping(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *mapping, const struct csni_live_node *node,
                                              struct csn_error *err);

#endif
