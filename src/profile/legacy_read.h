/* The formats that pprof read before profile.proto: texts of heaps, of locks and of counts, and gperftools' CPU profile. */
#ifndef CSNI_PROFILE_LEGACY_READ_H
#define CSNI_PROFILE_LEGACY_READ_H

#include "profile/profile_private.h"

struct legacy_name {
    uint64_t addr;
    struct csn_str function, file;
    uint32_t line;
};

/* What becomes of addresses: locations of the mappings that the profile lists, with the names that it gives them. */
struct legacy_places {
    struct csn_profile *p;
    struct csn_error *err;
    struct csn_process_maps *maps;
    CSNI_VEC(struct legacy_name) names; /* those of one address follow each other, the innermost call first */
    CSNI_VEC(uint32_t) stack;           /* locations of the sample that is being read */
    struct csni_profile_table name_table, location_table;
};

/* `maps`: text with lines of /proc/PID/maps; others are passed over. csni_legacy_places_deinit() also after a failure. */
csn_status csni_legacy_places_init(struct legacy_places *places, struct csn_profile *profile, struct csni_span maps,
                                   struct csn_error *err);
void csni_legacy_places_deinit(struct legacy_places *places);

/* A name of an address, before the address is in a stack: `is_more` follows the name before it. */
csn_status csni_legacy_add_name(struct legacy_places *places, const struct legacy_name *name, bool is_more);
/* Whether an address has a name. */
bool csni_legacy_has_name(const struct legacy_places *places, uint64_t addr);
/* One more frame of the stack; `addr` is within the call. */
csn_status csni_legacy_push(struct legacy_places *places, uint64_t addr);
/* A sample with the stack, which is empty then. `block_bytes`: the label "bytes"; 0: none, as profile.proto has it. */
csn_status csni_legacy_add_sample(struct legacy_places *places, const uint32_t *types, const int64_t *values,
                                  uint32_t count, int64_t block_bytes);
/* What a period counts, and one. */
csn_status csni_legacy_set_period(struct legacy_places *places, struct csn_str type, struct csn_str unit, int64_t period);

/* Whether the first bytes are those of such a text, or of a CPU profile. */
bool csni_legacy_is_text(struct csni_span bytes);
bool csni_legacy_is_cpu(struct csni_span bytes);
csn_status csni_legacy_text_read(struct csn_profile *profile, struct csni_span text, struct csn_error *err);
csn_status csni_legacy_cpu_read(struct csn_profile *profile, struct csni_span bytes, struct csn_error *err);

#endif
