/* zlib data in pieces by own code, zstd data in pieces by libzstd. */
#include "inflate/inflater.h"

#include "base/core/fail.h"
#include "inflate/deflate.h"

#ifdef CSNI_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* A kind of data. */
struct decoder {
    /* Gives at least one byte more, up to out + size; CSN_NONE: the data has ended. */
    csn_status (*step)(struct csni_inflater *inflater, uint8_t *out, size_t size, size_t *given, struct csn_error *err);
    void (*close)(struct csni_inflater *inflater);
};

struct csni_inflater {
    const struct decoder *decoder;
    const struct csn_allocator *alloc;
    struct csni_span data;
    size_t size, done, consumed;
    const char *section;
    void *state;          /* of the decoder */
    bool frame_open;      /* zstd: within a frame */
};

static csn_status fail_damaged(const struct csni_inflater *s, const char *format, const char *why, struct csn_error *err) {
    return csni_fail(err, CSN_E_FORMAT, s->section, 0,
                     "damaged %s data (0x%zx bytes, header promises 0x%zx): %s, at 0x%zx of it, after 0x%zx inflated bytes",
                     format, s->data.size, s->size, why, s->consumed, s->done);
}

static csn_status step_zlib(struct csni_inflater *s, uint8_t *out, size_t size, size_t *given, struct csn_error *err) {
    bool good = csni_deflate_read(s->state, out, size, given);
    s->consumed = csni_deflate_consumed(s->state);
    if (!good) return fail_damaged(s, "zlib", csni_deflate_fault(s->state), err);
    return *given ? CSN_OK : CSN_NONE;
}

static void close_zlib(struct csni_inflater *s) { csni_deflate_destroy(s->state); }

static csn_status open_zlib(struct csni_inflater *s, struct csn_error *err) {
    static const struct decoder zlib = { step_zlib, close_zlib };
    s->state = csni_deflate_create(s->data, s->alloc);
    if (!s->state) return csni_fail_memory(err, 0);
    s->decoder = &zlib;
    return CSN_OK;
}

#ifdef CSNI_HAVE_ZSTD
static csn_status step_zstd(struct csni_inflater *s, uint8_t *out, size_t size, size_t *given, struct csn_error *err) {
    if (!s->frame_open && s->consumed == s->data.size) return CSN_NONE;
    ZSTD_inBuffer in = { s->data.ptr, s->data.size, s->consumed };
    ZSTD_outBuffer to = { out, size, 0 };
    size_t result = ZSTD_decompressStream(s->state, &to, &in);
    bool stuck = !to.pos && in.pos == s->consumed;
    s->consumed = in.pos;
    *given = to.pos;
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) return csni_fail_memory(err, 0);
    if (ZSTD_isError(result)) return fail_damaged(s, "zstd", ZSTD_getErrorName(result), err);
    s->frame_open = result != 0;
    return stuck ? fail_damaged(s, "zstd", "it ends early", err) : CSN_OK;
}

static void close_zstd(struct csni_inflater *s) { ZSTD_freeDStream(s->state); }

static csn_status open_zstd(struct csni_inflater *s, struct csn_error *err) {
    static const struct decoder zstd = { step_zstd, close_zstd };
    s->state = ZSTD_createDStream();
    if (!s->state) return csni_fail_memory(err, 0);
    s->decoder = &zstd;
    return CSN_OK;
}
#else
static csn_status open_zstd(struct csni_inflater *s, struct csn_error *err) {
    (void)s;
    (void)err;
    return CSN_NONE;
}
#endif

csn_status csni_inflater_create(enum csni_compression compression, struct csni_span data, size_t size, const char *section,
                                const struct csn_allocator *alloc, struct csni_inflater **inflater, struct csn_error *err) {
    struct csni_inflater *s = csni_alloc(alloc, sizeof *s);
    if (!s) return csni_fail_memory(err, sizeof *s);
    *s = (struct csni_inflater){ .alloc = alloc, .data = data, .size = size, .section = section };
    csn_status status = CSN_NONE;
    if (compression == CSNI_COMPRESSION_ZLIB) status = open_zlib(s, err);
    else if (compression == CSNI_COMPRESSION_ZSTD) status = open_zstd(s, err);
    if (status == CSN_OK) *inflater = s;
    else csni_free(alloc, s, sizeof *s);
    return status;
}

/* After the last byte: the checksum, and nothing that is more data. */
static csn_status check_end(struct csni_inflater *s, struct csn_error *err) {
    for (;;) {
        uint8_t spare;
        size_t given = 0;
        csn_status status = s->decoder->step(s, &spare, 1, &given, err);
        if (status == CSN_NONE) return CSN_OK;
        if (status < 0) return status;
        if (given)
            return csni_fail(err, CSN_E_FORMAT, s->section, 0, "inflates to more than the 0x%zx bytes of its header",
                             s->size);
    }
}

csn_status csni_inflater_read(struct csni_inflater *s, uint8_t *out, size_t size, struct csn_error *err) {
    for (size_t got = 0; got < size;) {
        size_t given = 0;
        csn_status status = s->decoder->step(s, out + got, size - got, &given, err);
        if (status < 0) return status;
        got += given;
        s->done += given;
        if (status == CSN_NONE)
            return csni_fail(err, CSN_E_FORMAT, s->section, 0, "inflates to 0x%zx bytes, header promises 0x%zx", s->done, s->size);
    }
    return size && s->done == s->size ? check_end(s, err) : CSN_OK;
}

size_t csni_inflater_consumed(const struct csni_inflater *s) { return s->consumed; }

void csni_inflater_destroy(struct csni_inflater *s) {
    if (!s) return;
    s->decoder->close(s);
    csni_free(s->alloc, s, sizeof *s);
}
