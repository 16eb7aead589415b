/* .xz files, by liblzma. */
#include "inflate/inflate.h"

#include <inttypes.h>

#include "base/core/fail.h"

#ifdef CSNI_HAVE_LIBLZMA
#include <lzma.h>

static const uint64_t MAX_DECODER_MEMORY = (uint64_t)256 << 20; /* the strongest preset needs 65 MiB */
enum { FIRST_ROOM = 64 * 1024 };

struct xz_output {
    const struct csn_allocator *alloc;
    uint64_t max_size;
    uint8_t *bytes;
    size_t capacity;
};

/* Twice the room, at most one byte more than the limit, so that going beyond it is seen. */
static csn_status grow(struct xz_output *out, lzma_stream *stream, const char *section, struct csn_error *err) {
    size_t used = out->capacity;
    if (used > out->max_size)
        return csni_fail(err, CSN_E_LIMIT, section, 0, "xz data inflates to more than 0x%" PRIx64 " bytes, the limit",
                         out->max_size);
    size_t capacity = used ? used * 2 : FIRST_ROOM;
    if (capacity > out->max_size) capacity = (size_t)out->max_size + 1;
    uint8_t *bytes = csni_realloc(out->alloc, out->bytes, used, capacity);
    if (!bytes) return csni_fail_memory(err, capacity);
    out->bytes = bytes;
    out->capacity = capacity;
    stream->next_out = bytes + used;
    stream->avail_out = capacity - used;
    return CSN_OK;
}

static csn_status fail_xz(lzma_ret result, const lzma_stream *stream, size_t size, const char *section,
                          struct csn_error *err) {
    switch (result) {
    case LZMA_MEM_ERROR: return csni_fail_memory(err, 0);
    case LZMA_MEMLIMIT_ERROR:
        return csni_fail(err, CSN_E_LIMIT, section, 0, "xz data needs 0x%" PRIx64 " bytes to decode, limit 0x%" PRIx64,
                         lzma_memusage(stream), MAX_DECODER_MEMORY);
    case LZMA_BUF_ERROR:
        return csni_fail(err, CSN_E_TRUNCATED, section, size, "xz data ends within a stream of 0x%zx bytes", size);
    default:
        return csni_fail(err, CSN_E_FORMAT, section, stream->total_in, "damaged xz data (liblzma error %d)", (int)result);
    }
}

static csn_status run_xz(lzma_stream *stream, struct csni_span data, struct xz_output *out, const char *section,
                         struct csn_error *err) {
    stream->next_in = data.ptr;
    stream->avail_in = data.size;
    for (;;) {
        if (!stream->avail_out) CSNI_TRY(grow(out, stream, section, err));
        lzma_ret result = lzma_code(stream, LZMA_FINISH);
        if (result == LZMA_STREAM_END) break;
        if (result != LZMA_OK && !(result == LZMA_BUF_ERROR && !stream->avail_out))
            return fail_xz(result, stream, data.size, section, err);
    }
    if (stream->total_out <= out->max_size) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, section, 0, "xz data inflates to 0x%" PRIx64 " bytes, limit 0x%" PRIx64,
                     stream->total_out, out->max_size);
}

csn_status csni_inflate_xz(struct csni_span data, uint64_t max_size, const struct csn_allocator *alloc,
                           struct csni_span *out, size_t *capacity, const char *section, struct csn_error *err) {
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret begun = lzma_stream_decoder(&stream, MAX_DECODER_MEMORY, LZMA_CONCATENATED);
    if (begun != LZMA_OK) return fail_xz(begun, &stream, data.size, section, err);
    struct xz_output output = { .alloc = alloc, .max_size = max_size < SIZE_MAX / 4 ? max_size : SIZE_MAX / 4 };
    csn_status status = run_xz(&stream, data, &output, section, err);
    uint64_t size = stream.total_out;
    lzma_end(&stream);
    if (status < 0) {
        csni_free(alloc, output.bytes, output.capacity);
        return status;
    }
    *out = (struct csni_span){ output.bytes, (size_t)size };
    *capacity = output.capacity;
    return CSN_OK;
}
#else
csn_status csni_inflate_xz(struct csni_span data, uint64_t max_size, const struct csn_allocator *alloc,
                           struct csni_span *out, size_t *capacity, const char *section, struct csn_error *err) {
    (void)data, (void)max_size, (void)alloc, (void)out, (void)capacity;
    return csni_fail(err, CSN_E_UNSUPPORTED, section, 0, "xz compression: this build lacks liblzma");
}
#endif
