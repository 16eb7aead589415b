/* What the files of src/process/ share. */
#ifndef CSNI_PROCESS_PRIVATE_H
#define CSNI_PROCESS_PRIVATE_H

#include <callsign/process.h>

const struct csn_allocator *csni_process_maps_allocator(const struct csn_process_maps *maps);

#endif
