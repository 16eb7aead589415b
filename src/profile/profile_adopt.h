/* Locations that name no module. */
#ifndef CSNI_PROFILE_ADOPT_H
#define CSNI_PROFILE_ADOPT_H

#include <callsign/store.h>

#include "profile/profile_private.h"

/* An index that was given alone serves them, too: those that it covers get a module of its name. */
csn_status csni_profile_adopt_locations(struct csn_profile *profile, struct csn_store *store, struct csn_error *err);

#endif
