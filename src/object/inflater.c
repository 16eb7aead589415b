/* zlib data in pieces by ISA-L, zstd data in pieces by libzstd.
 *
 * ISA-L is loaded when the first piece is wanted and not linked: its two hundred symbols are all resolved when it is loaded,
 * which took a process that looks up one address 175,000 of 653,000 instructions. */
#include "object/inflater.h"

#include "base/fail.h"
#include "base/load_function.h"

#ifdef CSNI_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif
#ifdef CSNI_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* A library's calls. */
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
    void *state;          /* of the library */
    bool frame_open;      /* zstd: within a frame */
};

static csn_status fail_damaged(const struct csni_inflater *s, const char *format, const char *why, struct csn_error *err) {
    return csni_fail(err, CSN_E_FORMAT, s->section, 0,
                     "damaged %s data (0x%zx bytes, header promises 0x%zx): %s, at 0x%zx of it, behind 0x%zx inflated bytes",
                     format, s->data.size, s->size, why, s->consumed, s->done);
}

#ifdef CSNI_HAVE_ISAL
enum { ISAL_PIECE = 1 << 30 }; /* its counts have 32 bits */

struct isal {
    int (*inflate)(struct inflate_state *state);
    struct inflate_state state;
};

/* Once loaded the library stays. False: it is not installed here. */
static bool load_isal(struct isal *out) {
    void *library = dlopen("libisal.so.2", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return false;
    void (*init)(struct inflate_state *state);
    bool loaded = csni_load_function(library, "isal_inflate_init", &init) && csni_load_function(library, "isal_inflate", &out->inflate);
    dlclose(library);
    if (loaded) init(&out->state);
    return loaded;
}

static const char *isal_text(int result) {
    switch (result) {
    case ISAL_NEED_DICT: return "needs a dictionary";
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid symbol";
    case ISAL_INVALID_LOOKBACK: return "reference to before its begin";
    case ISAL_INVALID_WRAPPER: case ISAL_UNSUPPORTED_METHOD: return "invalid header";
    case ISAL_INCORRECT_CHECKSUM: return "wrong checksum";
    default: return "unknown error";
    }
}

static csn_status step_zlib(struct csni_inflater *s, uint8_t *out, size_t size, size_t *given, struct csn_error *err) {
    struct isal *isal = s->state;
    struct inflate_state *state = &isal->state;
    if (state->block_state == ISAL_BLOCK_FINISH) return CSN_NONE;
    size_t left = s->data.size - s->consumed;
    uint32_t in = left < ISAL_PIECE ? (uint32_t)left : ISAL_PIECE, room = size < ISAL_PIECE ? (uint32_t)size : ISAL_PIECE;
    state->next_in = (uint8_t *)(uintptr_t)(s->data.ptr + s->consumed);
    state->avail_in = in;
    state->next_out = out;
    state->avail_out = room;
    int result = isal->inflate(state);
    uint32_t taken = in - state->avail_in;
    s->consumed += taken;
    *given = room - state->avail_out;
    if (result < 0 || result == ISAL_NEED_DICT) return fail_damaged(s, "zlib", isal_text(result), err);
    bool stuck = !*given && !taken && state->block_state != ISAL_BLOCK_FINISH;
    return stuck ? fail_damaged(s, "zlib", "it ends early", err) : CSN_OK;
}

static void close_zlib(struct csni_inflater *s) { csni_free(s->alloc, s->state, sizeof(struct isal)); }

static csn_status open_zlib(struct csni_inflater *s, struct csn_error *err) {
    static const struct decoder zlib = { step_zlib, close_zlib };
    struct isal *isal = csni_alloc(s->alloc, sizeof *isal);
    if (!isal) return csni_fail_memory(err, sizeof *isal);
    s->state = isal;
    s->decoder = &zlib;
    if (!load_isal(isal)) {
        close_zlib(s);
        return CSN_NONE;
    }
    isal->state.crc_flag = ISAL_ZLIB;
    return CSN_OK;
}
#else
static csn_status open_zlib(struct csni_inflater *s, struct csn_error *err) {
    (void)s;
    (void)err;
    return CSN_NONE;
}
#endif

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

/* Behind the last byte: the checksum, and nothing that is more data. */
static csn_status check_end(struct csni_inflater *s, struct csn_error *err) {
    for (;;) {
        uint8_t spare;
        size_t given = 0;
        csn_status status = s->decoder->step(s, &spare, 1, &given, err);
        if (status == CSN_NONE) return CSN_OK;
        if (status < 0) return status;
        if (given) return csni_fail(err, CSN_E_FORMAT, s->section, 0, "inflates to more than the 0x%zx bytes of its header", s->size);
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
