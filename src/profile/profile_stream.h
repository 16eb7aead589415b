/* An input in a window, inflated on the way if it is gzip. */
#ifndef CSNI_PROFILE_STREAM_H
#define CSNI_PROFILE_STREAM_H

#include <stdbool.h>

#include <callsign/profile.h>

#include "base/core/alloc.h"
#include "base/core/span.h"

struct csni_profile_stream {
    const struct csn_allocator *alloc;
    csn_profile_source *source;
    void *context;
    uint8_t *bytes;              /* the window: [start, end) is not consumed */
    size_t start, end, capacity;
    uint8_t *packed;             /* compressed bytes; NULL: the input is plain */
    size_t packed_start, packed_end;
    struct z_stream_s *inflater;
    bool at_end;                 /* of what the window gets */
    uint64_t members_size;       /* compressed, of the members before */
    bool member_ended;
    uint64_t off;                /* of the window's start in the inflated input */
};

/* Reads the first bytes. After a failure the stream is closed. */
csn_status csni_profile_stream_open(struct csni_profile_stream *stream, const struct csn_allocator *alloc,
                                    csn_profile_source *source, void *context, struct csn_error *err);
void csni_profile_stream_close(struct csni_profile_stream *stream);
/* Whether this build can inflate. */
bool csni_profile_has_gzip(void);

static inline size_t csni_profile_stream_left(const struct csni_profile_stream *stream) { return stream->end - stream->start; }
static inline const uint8_t *csni_profile_stream_at(const struct csni_profile_stream *stream) {
    return stream->bytes + stream->start;
}
static inline void csni_profile_stream_skip(struct csni_profile_stream *stream, size_t size) {
    stream->start += size;
    stream->off += size;
}
/* At least `size` bytes in the window, or all that is left. */
csn_status csni_profile_stream_need(struct csni_profile_stream *stream, size_t size, struct csn_error *err);
/* Everything that is left, in the window. CSN_E_LIMIT: more than `max` bytes. */
csn_status csni_profile_stream_whole(struct csni_profile_stream *stream, uint64_t max, struct csni_span *out,
                                     struct csn_error *err);

#endif
