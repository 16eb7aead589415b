/* Frames of writers that list an inlined call with the address of the function that it was inlined into. */
#ifndef CALLSIGN_CLI_INLINED_GROUP_H
#define CALLSIGN_CLI_INLINED_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

/* The lines of one address, the innermost call first. */
struct inlined_group {
    uint64_t pc;
    uint64_t first_name; /* hash of the first line's */
};

static inline uint64_t inlined_name_hash(struct csn_str name) {
    uint64_t hash = name.len;
    for (size_t i = 0; i < name.len; i++) hash = hash * 31 + (uint8_t)name.ptr[i];
    return hash;
}

/* Whether the line belongs to the frame before it: in one frame, two calls of one function do not have one address.
 * A function that calls itself returns to one address in each frame; its first name comes again then. `open`: there
 * is a frame before. */
static inline bool inlined_group_goes_on(struct inlined_group *group, bool open, uint64_t pc, struct csn_str name) {
    const uint64_t hash = inlined_name_hash(name);
    if (open && pc == group->pc && hash != group->first_name) return true;
    *group = (struct inlined_group){ pc, hash };
    return false;
}

#endif
