/* What compilers append to the names of clones and split parts of a function. Debug information has the name without it. */
#ifndef CALLSIGN_CLI_CLONE_NAME_H
#define CALLSIGN_CLI_CLONE_NAME_H

#include <stdbool.h>

#include <callsign/base.h>

/* "f" of "f.constprop.0.isra.0" and of "f.cold"; any other name as it is. */
struct csn_str clone_original(struct csn_str name);

/* "f.cold", "f.part.0.cold": not the function's own code, but what was moved out of it. */
bool clone_is_cold(struct csn_str name);

#endif
