/* Buffered output. */
#include "profile/profile_out.h"

#include <stdio.h>

#ifdef CSNI_HAVE_ZLIB
#include <zlib.h>
#endif

enum { OUT_SIZE = 1 << 16 };

static void pass_on(struct profile_out *out, const uint8_t *bytes, size_t size) {
    if (out->status < 0 || !size) return;
    out->status = out->sink.write(out->sink.context, out->off, bytes, size, out->err);
    out->off += size;
}

#ifdef CSNI_HAVE_ZLIB
enum { ZLIB_HEAD = 16 };

static void *deflate_alloc(void *context, unsigned count, unsigned size) {
    const size_t all = (size_t)count * size + ZLIB_HEAD;
    uint8_t *block = csni_alloc(context, all);
    if (!block) return NULL;
    memcpy(block, &all, sizeof all);
    return block + ZLIB_HEAD;
}

static void deflate_free(void *context, void *ptr) {
    size_t all;
    if (!ptr) return;
    uint8_t *block = (uint8_t *)ptr - ZLIB_HEAD;
    memcpy(&all, block, sizeof all);
    csni_free(context, block, all);
}

static csn_status open_deflater(struct profile_out *out) {
    enum { GZIP = 15 + 16, MEMORY_LEVEL = 8 };
    union { const struct csn_allocator *in; void *out; } context = { out->alloc };
    out->packed = csni_alloc(out->alloc, OUT_SIZE);
    out->deflater = csni_alloc_zeroed(out->alloc, 1, sizeof *out->deflater);
    if (!out->packed || !out->deflater) return csni_fail_memory(out->err, OUT_SIZE);
    out->deflater->zalloc = deflate_alloc;
    out->deflater->zfree = deflate_free;
    out->deflater->opaque = context.out;
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
static csn_status open_deflater(struct profile_out *out) { return csni_fail(out->err, CSN_E_UNSUPPORTED, NULL, 0, "this build has no zlib"); }
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
    for (uint32_t i = 0; i < p->value_count; i++)
        if (p->default_type && p->value_types[i].type == p->default_type) return i;
    return 0;
}

/* ---- JSON ---- */

/* The size of the UTF-8 sequence at the beginning of `text`; 0: it is none. */
static size_t utf8_size(struct csn_str text) {
    const uint8_t *p = (const uint8_t *)text.ptr;
    size_t size = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    if (size > text.len) return 0;
    for (size_t i = 1; i < size; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return size;
}

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
        size_t size = c < 0x80 ? 1 : utf8_size(text);
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
