/* The readers of single formats. */
#ifndef CSNI_PROFILE_READ_H
#define CSNI_PROFILE_READ_H

#include "profile/profile_private.h"
#include "profile/profile_stream.h"
#include "profile/proto_wire.h"

csn_status csni_pprof_read(struct csn_profile *profile, struct csni_profile_stream *stream, struct csn_error *err);
csn_status csni_otlp_read(struct csn_profile *profile, struct csni_span bytes, struct csn_error *err);
csn_status csni_otlp_json_read(struct csn_profile *profile, struct csni_span text, struct csn_error *err);
csn_status csni_firefox_read(struct csn_profile *profile, struct csni_span text, struct csn_error *err);

/* Whether a field of pprof's Profile has the type of the schema, in which comments may be packed. Others are not known. */
enum { PPROF_FIRST_NUMBER = 7, PPROF_PERIOD_TYPE = 11, PPROF_COMMENT = 13, PPROF_LAST_FIELD = 15 };
static inline bool csni_pprof_has_type(uint32_t number, uint32_t type) {
    const bool is_message = number < PPROF_FIRST_NUMBER || number == PPROF_PERIOD_TYPE;
    if (number > PPROF_LAST_FIELD || (number == PPROF_COMMENT && type == PROTO_BYTES)) return true;
    return type == (is_message ? PROTO_BYTES : PROTO_VARINT);
}

/* A module whose build id is a text: hexadecimal digits of either case. Anything else is kept for output, but finds no index. The
 * kernel's names become "vmlinux". */
csn_status csni_profile_hex_module(struct csn_profile *profile, struct csn_str path, struct csn_str build_id, uint64_t start,
                                   uint64_t end, uint64_t file_off, uint32_t *out, struct csn_error *err);

/* Of a stack, and inlined calls of a location. A byte of a packed input may be a thousand frames, and each takes 50 bytes. */
enum { PROFILE_FRAMES_MAX = 1 << 20 };
/* `what` has more: a stack or a location. */
csn_status csni_profile_fail_frames(struct csn_error *err, const char *section, uint64_t off, const char *what);

/* The same of a library of a Firefox profile, with all that it tells of itself. */
csn_status csni_profile_lib_module(struct csn_profile *profile, struct csn_str path, struct csn_str build_id,
                                   const uint32_t lib[PROFILE_LIB_TEXTS], uint32_t *out, struct csn_error *err);

/* Lines and columns have 64 bits with a sign in pprof and OTLP. One that does not fit here is not known, 0, and counted. */
static inline uint32_t csni_profile_line_number(struct csn_profile *profile, uint64_t given) {
    if (given <= UINT32_MAX) return (uint32_t)given;
    profile->lost_lines++;
    return 0;
}

#endif
