/* Paths that lead each process to something else. */
#ifndef CSNI_OWN_PATH_H
#define CSNI_OWN_PATH_H

#include <stdbool.h>

#include <callsign/base.h>

/* Whether an absolute path names what the process that opens it is or has: below /proc/self, /proc/thread-self, /dev/fd, or
 * /dev/stdin and the like. Where a log or profile has such a name, another process meant it. */
bool csni_is_own_path(struct csn_str path);

#endif
