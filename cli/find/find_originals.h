/* Names of clones and parts, "f.isra.0": debug information calls them "f". */
#ifndef CALLSIGN_CLI_FIND_ORIGINALS_H
#define CALLSIGN_CLI_FIND_ORIGINALS_H

#include "find/find_walk.h"

/* After find_walk_run(): queries for such a name that matched nothing get what matches the name without the suffix. False: see
 * walk->status. */
bool find_originals(struct find_walk *walk);

#endif
