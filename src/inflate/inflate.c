/* Whole sections: of zlib as one piece of a stream, of zstd by libzstd. */
#include "inflate/inflate.h"

#include <inttypes.h>

#include "base/core/fail.h"
#include "inflate/inflater.h"

#ifdef CSNI_HAVE_ZSTD
#include <zstd.h>
#endif

static csn_status inflate_zlib(struct csni_span data, uint8_t *out, size_t size, const char *section,
                               const struct csn_allocator *alloc, struct csn_error *err) {
    struct csni_inflater *inflater;
    CSNI_TRY(csni_inflater_create(CSNI_COMPRESSION_ZLIB, data, size, section, alloc, &inflater, err));
    csn_status status = csni_inflater_read(inflater, out, size, err);
    csni_inflater_destroy(inflater);
    return status;
}

#ifdef CSNI_HAVE_ZSTD
static csn_status inflate_zstd(struct csni_span data, uint8_t *out, size_t size, const char *section,
                               struct csn_error *err) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (!context) return csni_fail_memory(err, 0);
    size_t actual = ZSTD_decompressDCtx(context, out, size, data.ptr, data.size);
    ZSTD_freeDCtx(context);
    if (ZSTD_isError(actual))
        return csni_fail(err, CSN_E_FORMAT, section, 0, "damaged zstd data (0x%zx bytes, header promises 0x%zx): %s",
                         data.size, size, ZSTD_getErrorName(actual));
    if (actual != size)
        return csni_fail(err, CSN_E_FORMAT, section, 0, "inflates to 0x%zx bytes, header promises 0x%zx", actual, size);
    return CSN_OK;
}

/* The size in the first frame's header; more frames may follow it. */
static csn_status check_zstd(struct csni_span data, uint64_t size, const char *section, struct csn_error *err) {
    unsigned long long frame = ZSTD_getFrameContentSize(data.ptr, data.size);
    if (frame == ZSTD_CONTENTSIZE_ERROR) return csni_fail(err, CSN_E_FORMAT, section, 0, "no zstd frame");
    if (frame != ZSTD_CONTENTSIZE_UNKNOWN && frame > size)
        return csni_fail(err, CSN_E_FORMAT, section, 0, "zstd frame of 0x%llx bytes, header promises 0x%" PRIx64, frame,
                         size);
    return CSN_OK;
}
#else
static csn_status check_zstd(struct csni_span data, uint64_t size, const char *section, struct csn_error *err) {
    (void)data;
    (void)size;
    return csni_fail(err, CSN_E_UNSUPPORTED, section, 0, "zstd compression: this build lacks libzstd");
}

static csn_status inflate_zstd(struct csni_span data, uint8_t *out, size_t size, const char *section,
                               struct csn_error *err) {
    (void)out;
    return check_zstd(data, size, section, err);
}
#endif

/* The densest there can be. Deflate: a match of 258 bytes in two bits. zstd: a block of 128 KiB, repeating one byte, in
 * four bytes. */
enum { DEFLATE_MAX_RATIO = 1032, ZSTD_MAX_RATIO = 32768 };

static csn_status check_ratio(struct csni_span data, uint64_t size, uint64_t max_ratio, const char *section,
                              struct csn_error *err) {
    if (size / max_ratio <= data.size) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, section, 0,
                     "inflated size 0x%" PRIx64 " cannot come from 0x%zx bytes of compressed data", size, data.size);
}

csn_status csni_inflate_check(enum csni_compression compression, struct csni_span data, uint64_t size, const char *section,
                              struct csn_error *err) {
    switch (compression) {
    case CSNI_COMPRESSION_ZLIB: return check_ratio(data, size, DEFLATE_MAX_RATIO, section, err);
    case CSNI_COMPRESSION_ZSTD:
        CSNI_TRY(check_zstd(data, size, section, err));
        return check_ratio(data, size, ZSTD_MAX_RATIO, section, err);
    case CSNI_COMPRESSION_NONE: break;
    }
    return CSN_OK;
}

csn_status csni_inflate(enum csni_compression compression, struct csni_span data, uint8_t *out, size_t size,
                        const char *section, const struct csn_allocator *alloc, struct csn_error *err) {
    switch (compression) {
    case CSNI_COMPRESSION_ZLIB: return inflate_zlib(data, out, size, section, alloc, err);
    case CSNI_COMPRESSION_ZSTD: return inflate_zstd(data, out, size, section, err);
    case CSNI_COMPRESSION_NONE: break;
    }
    return csni_fail(err, CSN_E_ARGUMENT, section, 0, "not compressed");
}
