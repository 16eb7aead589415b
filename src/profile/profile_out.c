/* Buffered output. */
#include "profile/profile_out.h"

#include <stdio.h>

#include "base/core/fail.h"
#include "base/utf8.h"
#include "profile/zlib_memory.h"

enum { OUT_SIZE = 1 << 16 };

static void pass_on(struct profile_out *out, const uint8_t *bytes, size_t size) {
    if (out->status < 0 || !size) return;
    out->status = out->sink.write(out->sink.context, out->off, bytes, size, out->err);
    out->off += size;
    if (out->status == CSN_OK && out->progress && !out->progress(out->progress_context, "writing", out->off, 0))
        out->status = csni_fail(out->err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller");
}

#ifdef CSNI_HAVE_ZLIB
static csn_status open_deflater(struct profile_out *out) {
    enum { GZIP = 15 + 16, MEMORY_LEVEL = 8 };
    out->packed = csni_alloc(out->alloc, OUT_SIZE);
    out->deflater = csni_alloc_zeroed(out->alloc, 1, sizeof *out->deflater);
    if (!out->packed || !out->deflater) return csni_fail_memory(out->err, OUT_SIZE);
    csni_zlib_memory(out->deflater, out->alloc);
    return deflateInit2(out->deflater, Z_BEST_SPEED, Z_DEFLATED, GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK
               ? CSN_OK : csni_fail_memory(out->err, sizeof *out->deflater);
}

static void flush_deflated(struct profile_out *out, int mode) {
    z_stream *z = out->deflater;
    int result = Z_OK;
    z->next_in = out->bytes;
    z->avail_in = (unsigned)out->used;
    do {
        z->next_out = out->packed;
        z->avail_out = OUT_SIZE;
        result = deflate(z, mode);
        pass_on(out, out->packed, OUT_SIZE - z->avail_out);
    } while (out->status == CSN_OK && (z->avail_in || (mode == Z_FINISH && result != Z_STREAM_END)));
    out->used = 0;
}

static void close_deflater(struct profile_out *out) {
    if (out->status == CSN_OK) flush_deflated(out, Z_FINISH);
    deflateEnd(out->deflater);
}
enum { DEFLATE_NO_FLUSH = Z_NO_FLUSH };
#else
static csn_status open_deflater(struct profile_out *out) {
    return csni_fail(out->err, CSN_E_UNSUPPORTED, NULL, 0, "this build has no zlib");
}
static void flush_deflated(struct profile_out *out, int mode) { (void)out, (void)mode; }
static void close_deflater(struct profile_out *out) { (void)out; }
enum { DEFLATE_NO_FLUSH = 0 };
struct z_stream_s { int unused; };
#endif

static void free_out(struct profile_out *out) {
    csni_free(out->alloc, out->deflater, sizeof *out->deflater);
    csni_free(out->alloc, out->packed, OUT_SIZE);
    csni_free(out->alloc, out->bytes, OUT_SIZE);
}

csn_status csni_profile_out_open(struct profile_out *out, const struct csn_allocator *alloc, struct csni_sink sink, bool gzip,
                                 struct csn_error *err) {
    *out = (struct profile_out){ .alloc = alloc, .sink = sink, .err = err };
    out->bytes = csni_alloc(alloc, OUT_SIZE);
    csn_status status = out->bytes ? CSN_OK : csni_fail_memory(err, OUT_SIZE);
    if (status == CSN_OK && gzip) status = open_deflater(out);
    if (status < 0) free_out(out);
    return status;
}

static void flush_out(struct profile_out *out) {
    if (out->deflater) flush_deflated(out, DEFLATE_NO_FLUSH);
    else pass_on(out, out->bytes, out->used);
    out->used = 0;
}

csn_status csni_profile_out_close(struct profile_out *out) {
    if (out->deflater) close_deflater(out);
    else flush_out(out);
    free_out(out);
    return out->status;
}

void csni_profile_put(struct profile_out *out, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    while (size) {
        const size_t left = OUT_SIZE - out->used, part = size < left ? size : left;
        memcpy(out->bytes + out->used, from, part);
        out->used += part;
        from += part;
        size -= part;
        if (out->used == OUT_SIZE) flush_out(out);
    }
}

void csni_profile_put_decimal(struct profile_out *out, int64_t value) {
    char text[24];
    csni_profile_put(out, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)value));
}

uint32_t csni_profile_shown_value(const struct csn_profile *p) {
    uint32_t shown;
    return csn_profile_get_default_type(p, &shown) == CSN_OK ? shown : 0;
}

/* ---- JSON ---- */

static bool is_plain_json(unsigned char c, bool html) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && !(html && (c == '<' || c == '>' || c == '&'));
}

void csni_profile_put_json(struct profile_out *out, struct csn_str text, bool html) {
    csni_profile_put(out, "\"", 1);
    while (text.len) {
        size_t plain = 0;
        while (plain < text.len && is_plain_json((unsigned char)text.ptr[plain], html)) plain++;
        csni_profile_put(out, text.ptr, plain);
        text = (struct csn_str){ text.ptr + plain, text.len - plain };
        if (!text.len) break;
        char escaped[8];
        const unsigned char c = (unsigned char)text.ptr[0];
        size_t size = c < 0x80 ? 1 : csni_utf8_size((const unsigned char *)text.ptr, text.len);
        /* U+2028 and U+2029 end lines of a script. */
        if (size == 3 && html && memcmp(text.ptr, "\xe2\x80", 2) == 0 && ((unsigned char)text.ptr[2] & 0xfe) == 0xa8)
            csni_profile_put_text(out, (text.ptr[2] & 1) ? "\\u2029" : "\\u2028");
        else if (size > 1) csni_profile_put(out, text.ptr, size);
        else if (!size) csni_profile_put_text(out, "\\ufffd");
        else csni_profile_put(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", c));
        size = size ? size : 1;
        text = (struct csn_str){ text.ptr + size, text.len - size };
    }
    csni_profile_put(out, "\"", 1);
}
