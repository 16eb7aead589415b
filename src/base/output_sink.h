/* Sinks: memory that is handed to a caller, or an output file. */
#ifndef CSNI_OUTPUT_SINK_H
#define CSNI_OUTPUT_SINK_H

#include "base/file_output.h"
#include "base/sink.h"

#include <callsign/base.h>

/* A sink that fills `out`, which must be empty but for its allocator. On failure call csn_bytes_free(). */
struct csni_sink csni_memory_sink(struct csn_bytes *out);
/* A sink that writes to an open output file. */
struct csni_sink csni_file_sink(struct csni_file_output *out);

#endif
