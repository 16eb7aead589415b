/* Where writers put bytes: buffered, with gzip or without, into a file or memory. The first failure is kept. */
#ifndef CSNI_PROFILE_OUT_H
#define CSNI_PROFILE_OUT_H

#include <string.h>

#include "base/sink.h"
#include "profile/profile_private.h"

struct profile_out {
    const struct csn_allocator *alloc;
    struct csni_sink sink;
    struct csn_error *err;
    csn_profile_progress *progress; /* NULL: none */
    void *progress_context;
    csn_status status;
    uint64_t off;
    uint8_t *bytes;
    size_t used;
    struct z_stream_s *deflater; /* NULL: bytes stay as they are */
    uint8_t *packed;
};

csn_status csni_profile_out_open(struct profile_out *out, const struct csn_allocator *alloc, struct csni_sink sink, bool gzip,
                                 struct csn_error *err);
/* Everything is with the sink then, if it returns CSN_OK. */
csn_status csni_profile_out_close(struct profile_out *out);

void csni_profile_put(struct profile_out *out, const void *bytes, size_t size);
static inline void csni_profile_put_text(struct profile_out *out, const char *text) { csni_profile_put(out, text, strlen(text)); }
void csni_profile_put_decimal(struct profile_out *out, int64_t value);
/* A string of JSON with its quotes. `html`: it stands in a script of a page. */
void csni_profile_put_json(struct profile_out *out, struct csn_str text, bool html);

/* The value that is shown where there is one: of the default type, else of the first. */
uint32_t csni_profile_shown_value(const struct csn_profile *profile);

csn_status csni_pprof_write(struct csn_profile *profile, struct profile_out *out, struct csn_error *err);
/* `json`: as JSON instead of protobuf. */
csn_status csni_otlp_write(struct csn_profile *profile, bool json, struct profile_out *out, struct csn_error *err);
/* A ProfilesData as JSON (otlp_json_write.c). */
void csni_otlp_json_put(struct profile_out *out, struct csni_span message);
csn_status csni_firefox_write(struct csn_profile *profile, struct profile_out *out, struct csn_error *err);
csn_status csni_folded_write(struct csn_profile *profile, struct profile_out *out, struct csn_error *err);
csn_status csni_perf_script_write(struct csn_profile *profile, struct profile_out *out, struct csn_error *err);
csn_status csni_html_write(struct csn_profile *profile, struct profile_out *out, const char *title, struct csn_error *err);

#endif
