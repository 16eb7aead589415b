/* The readers of single formats. */
#ifndef CSNI_PROFILE_READ_H
#define CSNI_PROFILE_READ_H

#include "profile/profile_private.h"
#include "profile/profile_stream.h"

csn_status csni_pprof_read(struct csn_profile *profile, struct csni_profile_stream *stream, struct csn_error *err);
csn_status csni_otlp_read(struct csn_profile *profile, struct csni_span bytes, struct csn_error *err);
csn_status csni_otlp_json_read(struct csn_profile *profile, struct csni_span text, struct csn_error *err);
csn_status csni_firefox_read(struct csn_profile *profile, struct csni_span text, struct csn_error *err);

/* A module whose build id is a text: hexadecimal digits of either case. Anything else is kept for output, but finds no index. The
 * kernel's names become "vmlinux". */
csn_status csni_profile_hex_module(struct csn_profile *profile, struct csn_str path, struct csn_str build_id, uint64_t start,
                                   uint64_t end, uint64_t file_off, uint32_t *out, struct csn_error *err);

/* Lines and columns have 64 bits with a sign in pprof and OTLP. One that does not fit here is not known, 0, and counted. */
static inline uint32_t csni_profile_line_number(struct csn_profile *profile, uint64_t given) {
    if (given <= UINT32_MAX) return (uint32_t)given;
    profile->lost_lines++;
    return 0;
}

#endif
