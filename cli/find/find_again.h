/* A second walk for queries that matched nothing: names of clones and parts, "f.isra.0", which debug information calls "f"; and
 * what may be a name or a glob, "f(int*)". */
#ifndef CALLSIGN_CLI_FIND_AGAIN_H
#define CALLSIGN_CLI_FIND_AGAIN_H

#include "find/find_walk.h"

/* After find_walk_run(). False: see walk->status. */
bool find_again(struct find_walk *walk);

#endif
