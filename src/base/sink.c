/* Sinks: memory that is handed to a caller, or an output file. */
#include "base/sink.h"

#include <string.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "base/file_output.h"

static csn_status memory_reserve(void *context, uint64_t size, struct csn_error *err) {
    struct csn_bytes *out = context;
    out->ptr = size <= SIZE_MAX ? csni_alloc(out->allocator, (size_t)size) : NULL;
    if (!out->ptr) return csni_fail_memory(err, size);
    out->size = (size_t)size;
    return CSN_OK;
}

static csn_status memory_write(void *context, uint64_t offset, const void *bytes, size_t size, struct csn_error *err) {
    (void)err;
    struct csn_bytes *out = context;
    if (size) memcpy(out->ptr + offset, bytes, size);
    return CSN_OK;
}

struct csni_sink csni_memory_sink(struct csn_bytes *out) {
    return (struct csni_sink){ memory_reserve, memory_write, out, false };
}

static csn_status file_reserve(void *context, uint64_t size, struct csn_error *err) {
    (void)context;
    (void)size;
    (void)err;
    return CSN_OK;
}

static csn_status file_write(void *context, uint64_t offset, const void *bytes, size_t size, struct csn_error *err) {
    return csni_file_output_write(context, offset, bytes, size, err);
}

struct csni_sink csni_file_sink(struct csni_file_output *out) {
    return (struct csni_sink){ file_reserve, file_write, out, true };
}
