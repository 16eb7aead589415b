/* The window of an input. */
#include "profile/profile_stream.h"

#include <string.h>

#include "base/core/fail.h"

#include "profile/zlib_memory.h"

enum { WINDOW_FIRST = 1 << 16, PACKED_SIZE = 1 << 16 };

bool csni_profile_has_gzip(void) {
#ifdef CSNI_HAVE_ZLIB
    return true;
#else
    return false;
#endif
}

#ifdef CSNI_HAVE_ZLIB
static csn_status open_inflater(struct csni_profile_stream *s, struct csn_error *err) {
    enum { GZIP = 15 + 16 };
    s->packed = csni_alloc(s->alloc, PACKED_SIZE);
    s->inflater = csni_alloc_zeroed(s->alloc, 1, sizeof *s->inflater);
    if (!s->packed || !s->inflater) return csni_fail_memory(err, PACKED_SIZE);
    csni_zlib_memory(s->inflater, s->alloc);
    return inflateInit2(s->inflater, GZIP) == Z_OK ? CSN_OK : csni_fail_memory(err, sizeof *s->inflater);
}

static csn_status fill_packed(struct csni_profile_stream *s, struct csn_error *err) {
    size_t got = 0;
    if (s->packed_start < s->packed_end) return CSN_OK;
    CSNI_TRY(s->source(s->context, s->packed, PACKED_SIZE, &got, err));
    s->packed_start = 0;
    s->packed_end = got;
    return CSN_OK;
}

/* Members may follow one another. */
static csn_status inflate_some(struct csni_profile_stream *s, uint8_t *out, size_t capacity, size_t *out_size,
                               struct csn_error *err) {
    z_stream *z = s->inflater;
    const uint64_t off = s->off + csni_profile_stream_left(s);
    *out_size = 0;
    while (!*out_size) {
        CSNI_TRY(fill_packed(s, err));
        const bool is_out = s->packed_start == s->packed_end;
        if (is_out && s->member_ended) return CSN_OK;
        if (is_out)
            return csni_fail(err, CSN_E_TRUNCATED, "gzip", s->members_size + z->total_in,
                             "the compressed data ends after %llu inflated bytes", (unsigned long long)off);
        if (s->member_ended) s->members_size += z->total_in;
        if (s->member_ended && inflateReset(z) != Z_OK) return csni_fail_memory(err, 0);
        s->member_ended = false;
        z->next_in = s->packed + s->packed_start;
        z->avail_in = (unsigned)(s->packed_end - s->packed_start);
        z->next_out = out;
        z->avail_out = capacity < UINT32_MAX ? (unsigned)capacity : UINT32_MAX;
        const size_t given = z->avail_out;
        const int result = inflate(z, Z_NO_FLUSH);
        s->packed_start = s->packed_end - z->avail_in;
        *out_size = given - z->avail_out;
        if (result == Z_STREAM_END) s->member_ended = true;
        else if (result == Z_MEM_ERROR) return csni_fail_memory(err, 0);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return csni_fail(err, CSN_E_FORMAT, "gzip", s->members_size + z->total_in, "%s, after %llu inflated bytes",
                             z->msg ? z->msg : "damaged data", (unsigned long long)off);
    }
    return CSN_OK;
}

static void close_inflater(struct csni_profile_stream *s) {
    if (s->inflater) inflateEnd(s->inflater);
    csni_free(s->alloc, s->inflater, sizeof *s->inflater);
}
#else
static csn_status open_inflater(struct csni_profile_stream *s, struct csn_error *err) {
    (void)s;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the input is compressed with gzip, and this build has no zlib");
}
static csn_status inflate_some(struct csni_profile_stream *s, uint8_t *out, size_t capacity, size_t *out_size,
                               struct csn_error *err) {
    (void)out, (void)capacity, (void)out_size;
    return open_inflater(s, err);
}
static void close_inflater(struct csni_profile_stream *s) { (void)s; }
#endif

static csn_status read_into(struct csni_profile_stream *s, uint8_t *to, size_t size, size_t *out_size, struct csn_error *err) {
    *out_size = 0;
    CSNI_TRY(s->packed ? inflate_some(s, to, size, out_size, err) : s->source(s->context, to, size, out_size, err));
    s->at_end = !*out_size;
    return CSN_OK;
}

static csn_status read_some(struct csni_profile_stream *s, struct csn_error *err) {
    size_t got;
    CSNI_TRY(read_into(s, s->bytes + s->end, s->capacity - s->end, &got, err));
    s->end += got;
    return CSN_OK;
}

/* The window begins with its first byte, and has space for `size`. */
static csn_status make_space(struct csni_profile_stream *s, size_t size, struct csn_error *err) {
    size_t capacity = s->capacity;
    if (s->capacity - s->start >= size && s->capacity > s->end) return CSN_OK;
    if (s->start) memmove(s->bytes, s->bytes + s->start, s->end - s->start);
    s->end -= s->start;
    s->start = 0;
    while (capacity < size && capacity <= SIZE_MAX / 2) capacity *= 2;
    if (capacity == s->end) capacity *= 2;
    if (capacity == s->capacity) return CSN_OK;
    uint8_t *bytes = csni_realloc(s->alloc, s->bytes, s->capacity, capacity);
    if (!bytes || capacity < size) return csni_fail_memory(err, size);
    s->bytes = bytes;
    s->capacity = capacity;
    return CSN_OK;
}

csn_status csni_profile_stream_need(struct csni_profile_stream *s, size_t size, struct csn_error *err) {
    while (csni_profile_stream_left(s) < size && !s->at_end) {
        /* What a damaged size claims is not reserved before the bytes are there. */
        const size_t left = csni_profile_stream_left(s), step = left + WINDOW_FIRST < size ? left + WINDOW_FIRST : size;
        CSNI_TRY(make_space(s, step, err));
        CSNI_TRY(read_some(s, err));
    }
    return CSN_OK;
}

csn_status csni_profile_stream_whole(struct csni_profile_stream *s, uint64_t max, struct csni_span *out, struct csn_error *err) {
    while (!s->at_end) {
        const size_t left = csni_profile_stream_left(s);
        if (left > max)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the input has more than %llu bytes, the limit", (unsigned long long)max);
        CSNI_TRY(csni_profile_stream_need(s, left + WINDOW_FIRST, err));
    }
    *out = (struct csni_span){ csni_profile_stream_at(s), csni_profile_stream_left(s) };
    return CSN_OK;
}

csn_status csni_profile_stream_open(struct csni_profile_stream *s, const struct csn_allocator *alloc, csn_profile_source *source,
                                    void *context, struct csn_error *err) {
    *s = (struct csni_profile_stream){ .alloc = alloc, .source = source, .context = context, .capacity = WINDOW_FIRST };
    s->bytes = csni_alloc(alloc, WINDOW_FIRST);
    csn_status status = s->bytes ? csni_profile_stream_need(s, 2, err) : csni_fail_memory(err, WINDOW_FIRST);
    if (status == CSN_OK && csni_profile_stream_left(s) >= 2 && s->bytes[0] == 0x1f && s->bytes[1] == 0x8b) {
        status = open_inflater(s, err);
        if (status == CSN_OK) {
            memcpy(s->packed, s->bytes, s->end); /* the first read gave no more than PACKED_SIZE */
            s->packed_end = s->end;
            s->end = 0;
            s->at_end = false;
        }
    }
    if (status < 0) csni_profile_stream_close(s);
    return status;
}

void csni_profile_stream_close(struct csni_profile_stream *s) {
    close_inflater(s);
    csni_free(s->alloc, s->packed, PACKED_SIZE);
    csni_free(s->alloc, s->bytes, s->capacity);
    *s = (struct csni_profile_stream){ .alloc = s->alloc };
}

/* ---- for readers of other formats ---- */

struct csn_profile_inflater {
    struct csni_profile_stream stream;
};

csn_status csn_profile_inflater_create(const struct csn_allocator *allocator, csn_profile_source *source, void *context,
                                       struct csn_profile_inflater **out, struct csn_error *err) {
    const struct csn_allocator *alloc = csni_allocator_or_default(allocator);
    struct csn_profile_inflater *inflater = csni_alloc_zeroed(alloc, 1, sizeof *inflater);
    if (!inflater) return csni_fail_memory(err, sizeof *inflater);
    const csn_status status = csni_profile_stream_open(&inflater->stream, alloc, source, context, err);
    if (status < 0) csni_free(alloc, inflater, sizeof *inflater);
    else *out = inflater;
    return status;
}

csn_status csn_profile_inflater_read(void *inflater, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct csni_profile_stream *s = &((struct csn_profile_inflater *)inflater)->stream;
    const size_t left = csni_profile_stream_left(s);
    if (!left && !s->at_end && capacity) { /* not by way of the window */
        CSNI_TRY(read_into(s, bytes, capacity, out_size, err));
        s->off += *out_size;
        return CSN_OK;
    }
    *out_size = left < capacity ? left : capacity;
    if (*out_size) memcpy(bytes, csni_profile_stream_at(s), *out_size);
    csni_profile_stream_skip(s, *out_size);
    return CSN_OK;
}

void csn_profile_inflater_destroy(struct csn_profile_inflater *inflater) {
    if (!inflater) return;
    const struct csn_allocator *alloc = inflater->stream.alloc;
    csni_profile_stream_close(&inflater->stream);
    csni_free(alloc, inflater, sizeof *inflater);
}
