/* What the samples of a profile reach, numbered from 1 in order: only that is written. */
#ifndef CSNI_PROFILE_USED_H
#define CSNI_PROFILE_USED_H

#include "base/buffer.h"
#include "profile/profile_private.h"

/* A string that is no UTF-8, and the one that is written instead. */
struct replaced_string {
    uint32_t string, by;
};

struct profile_used {
    const struct csn_allocator *alloc;
    uint32_t *nodes, *locations, *functions, *modules, *strings; /* 0: not used */
    size_t node_count, location_count, function_count, module_count; /* used ones */
    CSNI_VEC(uint32_t) string_order; /* profile's strings by their new number, the empty one first; new numbers count from 0 */
    CSNI_VEC(struct replaced_string) replaced; /* by string */
    uint32_t *module_order;      /* modules by their new number */
    uint64_t *module_last;       /* by module: the last location in it that is used */
    uint32_t *module_known;      /* by module: what is known of all of its locations, MODULE_ without MODULE_BY_LOCATIONS */
    size_t sizes[7];
};

/* `keeps_mappings`: also the modules with a place in memory in which no location is. The profile may get strings: formats have
 * UTF-8 alone, with U+FFFD where a string of the profile has none. */
csn_status csni_profile_used_init(struct profile_used *used, struct csn_profile *profile, bool keeps_mappings,
                                  struct csn_error *err);
void csni_profile_used_deinit(struct profile_used *used); /* a zeroed one is fine */
/* The string that is written for one of the profile: itself, if it is UTF-8. */
uint32_t csni_profile_used_utf8(const struct profile_used *used, uint32_t string);
/* The new number of a string, which is given one when it is needed first. UINT32_MAX: no memory. */
uint32_t csni_profile_used_string(struct profile_used *used, uint32_t string);
enum { PROFILE_ID_DIGITS = 2 * CSN_BUILD_ID_MAX + 1 };
/* The build id of a module as text: that of its input, or made in `digits`. Empty: it has none. */
struct csn_str csni_profile_build_id(const struct csn_profile *profile, const struct profile_module *module,
                                     char digits[PROFILE_ID_DIGITS]);
/* The lines of a location as fields `number` of a message, each made in `inner`: pprof and OTLP have the same. */
void csni_profile_put_lines(struct csni_buffer *message, uint32_t number, struct csni_buffer *inner,
                            const struct csn_profile *profile, const struct profile_used *used,
                            const struct profile_location *location);
/* The end of a module whose mapping is not known: behind the last location of it, in whole pages. */
uint64_t csni_profile_module_end(const struct profile_used *used, uint32_t module);

#endif
