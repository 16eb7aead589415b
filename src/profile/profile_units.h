/* What a unit of values measures, by pprof's spellings. */
#ifndef CSNI_PROFILE_UNITS_H
#define CSNI_PROFILE_UNITS_H

#include <callsign/profile.h>

enum profile_measure { PROFILE_COUNT, PROFILE_TIME, PROFILE_BYTES };
struct profile_unit {
    enum profile_measure measure;
    int64_t factor;              /* nanoseconds or bytes of one; else 1 */
};

/* "ns", "Milliseconds", "kB" and others; anything else is a count. */
struct profile_unit csni_profile_unit(struct csn_str text);
/* A value in nanoseconds or bytes; beyond 64 bits the largest of its sign. */
int64_t csni_profile_in_unit(int64_t value, const struct profile_unit *unit);

#endif
