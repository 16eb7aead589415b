/* zlib streams, piece by piece: blocks, what the fast loop leaves, the window, the checksum. */
#include "inflate/deflate.h"

#include "inflate/adler32.h"
#include "inflate/deflate_private.h"

enum { ZLIB_DEFLATE = 8, ZLIB_MAX_WINDOW = 7, ZLIB_DICTIONARY = 0x20, ZLIB_CHECK = 31, CHECKSUM_SIZE = 4 };

static bool read_zlib_header(struct csni_deflate *d) {
    struct csni_deflate_bits *b = &d->bits;
    if (b->end - b->in < 2) return csni_deflate_fail_early(d);
    unsigned method = b->in[0], flags = b->in[1];
    if ((method << 8 | flags) % ZLIB_CHECK || (method & 15) != ZLIB_DEFLATE || method >> 4 > ZLIB_MAX_WINDOW)
        return csni_deflate_fail(d, "invalid header");
    if (flags & ZLIB_DICTIONARY) return csni_deflate_fail(d, "needs a dictionary");
    b->in += 2;
    d->place = CSNI_DEFLATE_AT_BLOCK;
    return true;
}

static void copy_block_match(struct csni_deflate *d, uint8_t **out, const uint8_t *end) {
    for (; d->match_size && *out < end; d->match_size--, (*out)++) **out = *(*out - d->match_distance);
}

static bool read_coded(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    csni_deflate_run *run = *out - oldest < CSNI_DEFLATE_WINDOW ? d->run_checked : d->run;
    while (d->place == CSNI_DEFLATE_IN_CODED) {
        copy_block_match(d, out, end);
        if (*out == end) break;
        if (end - *out > CSNI_DEFLATE_OUT_MARGIN && d->bits.end - d->bits.in > CSNI_DEFLATE_IN_MARGIN) {
            if (!run(d, out, end, oldest)) return false;
        } else if (!csni_deflate_read_symbol(d, out, oldest)) {
            return false;
        }
    }
    return true;
}

static bool read_block_stored(struct csni_deflate *d, uint8_t **out, const uint8_t *end) {
    struct csni_deflate_bits *b = &d->bits;
    size_t size = d->stored_left;
    if (size > (size_t)(end - *out)) size = (size_t)(end - *out);
    bool whole = size <= (size_t)(b->end - b->in);
    if (!whole) size = (size_t)(b->end - b->in);
    if (size) memcpy(*out, b->in, size);
    *out += size;
    b->in += size;
    d->stored_left -= (uint32_t)size;
    if (!d->stored_left) d->place = CSNI_DEFLATE_AT_BLOCK;
    return whole || csni_deflate_fail_early(d);
}

/* Until `end`, or the checksum. */
static bool decode_block(struct csni_deflate *d, uint8_t **out, const uint8_t *end, const uint8_t *oldest) {
    bool good = !d->fault;
    while (good && *out < end && d->place < CSNI_DEFLATE_AT_CHECKSUM) {
        switch (d->place) {
        case CSNI_DEFLATE_AT_BEGIN: good = read_zlib_header(d); break;
        case CSNI_DEFLATE_IN_STORED: good = read_block_stored(d, out, end); break;
        case CSNI_DEFLATE_IN_CODED: good = read_coded(d, out, end, oldest); break;
        default:
            if (d->last_block) d->place = CSNI_DEFLATE_AT_CHECKSUM;
            else good = csni_deflate_read_header(d);
        }
    }
    return good;
}

enum { SUMMED = 1 << 17 }; /* bytes that are in the processor's cache when they are added up */

/* Into memory that has what went before before it. */
static bool read_behind(struct csni_deflate *d, uint8_t *out, size_t size, const uint8_t *oldest, size_t *given) {
    uint8_t *at = out, *end = out;
    bool good = true;
    while (good && at == end && end < out + size) {
        const uint8_t *begin = at;
        end = (size_t)(out + size - at) < SUMMED ? out + size : at + SUMMED;
        good = decode_block(d, &at, end, oldest);
        d->sum = csni_adler32(d->sum, begin, (size_t)(at - begin));
    }
    *given = (size_t)(at - out);
    return good;
}

/* By way of `recent`; at most CSNI_DEFLATE_WINDOW bytes. */
static bool read_recent(struct csni_deflate *d, uint8_t *out, size_t size, size_t *given) {
    if (size > sizeof d->recent - d->recent_size) {
        memmove(d->recent, d->recent + d->recent_size - CSNI_DEFLATE_WINDOW, CSNI_DEFLATE_WINDOW);
        d->recent_size = CSNI_DEFLATE_WINDOW;
    }
    uint8_t *to = d->recent + d->recent_size;
    const uint8_t *oldest = d->recent_size > CSNI_DEFLATE_WINDOW ? to - CSNI_DEFLATE_WINDOW : d->recent;
    bool good = read_behind(d, to, size, oldest, given);
    if (*given) memcpy(out, to, *given);
    d->recent_size += *given;
    return good;
}

/* `out` has CSNI_DEFLATE_WINDOW bytes before it, and will have as many. */
static bool read_directly(struct csni_deflate *d, uint8_t *out, size_t size, size_t *given) {
    bool good = read_behind(d, out, size, out - CSNI_DEFLATE_WINDOW, given);
    memcpy(d->recent, out + *given - CSNI_DEFLATE_WINDOW, CSNI_DEFLATE_WINDOW);
    d->recent_size = CSNI_DEFLATE_WINDOW;
    return good;
}

static bool check_block_sum(struct csni_deflate *d) {
    struct csni_deflate_bits *b = &d->bits;
    b->in -= b->count / 8;
    b->buf = b->count = 0;
    if (b->end - b->in < CHECKSUM_SIZE) return csni_deflate_fail_early(d);
    if (csni_get32(b->in, true) != d->sum) return csni_deflate_fail(d, "wrong checksum");
    b->in += CHECKSUM_SIZE;
    d->place = CSNI_DEFLATE_ENDED;
    return true;
}

bool csni_deflate_read(struct csni_deflate *d, uint8_t *out, size_t size, size_t *given) {
    bool good = true, ends = false;
    size_t done = 0;
    while (good && !ends && done < size) {
        size_t want = size - done, got;
        bool directly = done >= CSNI_DEFLATE_WINDOW && want > CSNI_DEFLATE_WINDOW;
        if (!directly && want > CSNI_DEFLATE_WINDOW) want = CSNI_DEFLATE_WINDOW;
        good = directly ? read_directly(d, out + done, want, &got) : read_recent(d, out + done, want, &got);
        ends = got < want;
        done += got;
    }
    *given = done;
    return good && d->place == CSNI_DEFLATE_AT_CHECKSUM ? check_block_sum(d) : good;
}

struct csni_deflate *csni_deflate_create(struct csni_span data, const struct csn_allocator *alloc) {
    struct csni_deflate *d = csni_alloc(alloc, sizeof *d);
    if (!d) return NULL;
    d->alloc = alloc;
    d->data = data;
    d->bits = (struct csni_deflate_bits){ .in = data.ptr, .end = data.size ? data.ptr + data.size : data.ptr };
    d->place = CSNI_DEFLATE_AT_BEGIN;
    d->last_block = d->has_fixed_code = false;
    d->match_size = 0;
    d->sum = 1;
    d->fault = NULL;
    d->recent_size = 0;
    csni_deflate_choose_run(d);
    return d;
}

const char *csni_deflate_fault(const struct csni_deflate *d) { return d->fault ? d->fault : "no fault"; }

size_t csni_deflate_consumed(const struct csni_deflate *d) {
    return (size_t)(d->bits.in - d->data.ptr) - d->bits.count / 8;
}

void csni_deflate_destroy(struct csni_deflate *d) {
    if (d) csni_free(d->alloc, d, sizeof *d);
}
