/* Where a writer puts its bytes: a file or memory, chosen by the caller. */
#ifndef CSNI_SINK_H
#define CSNI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

struct csni_sink {
    /* Announces the size of the whole before the first write, so that memory is allocated once. */
    csn_status (*reserve)(void *context, uint64_t size, struct csn_error *err);
    /* Ascending offsets without gaps; those of a sink that takes them in any order, also before it knows the size. One call
     * at a time. */
    csn_status (*write)(void *context, uint64_t offset, const void *bytes, size_t size, struct csn_error *err);
    void *context;
    bool takes_any_order;
};

/* Fills `out`, which must be empty but for its allocator. On failure call csn_bytes_free(). */
struct csni_sink csni_memory_sink(struct csn_bytes *out);

/* Writes to an open output file. */
struct csni_file_output;
struct csni_sink csni_file_sink(struct csni_file_output *out);

#endif
