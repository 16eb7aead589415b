/* Several inputs as one: what an input has that there was before. */
#ifndef CSNI_PROFILE_MERGE_H
#define CSNI_PROFILE_MERGE_H

#include "profile/profile_private.h"

/* How much there was before an input. */
struct profile_before {
    size_t locations, lines, nodes, samples;
};

struct profile_before csni_profile_before_input(const struct csn_profile *profile);
/* After an input was read, of which nothing outside of the profile has numbers: its locations and stacks that there were before
 * become those, and its samples too, if inputs are merged. */
csn_status csni_profile_merge_input(struct csn_profile *profile, const struct profile_before *before, struct csn_error *err);

#endif
