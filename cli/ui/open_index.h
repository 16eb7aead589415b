/* The index that a command is given: an index file, the index that an object file carries, or an object file that is
 * converted in memory. */
#ifndef CALLSIGN_CLI_OPEN_INDEX_H
#define CALLSIGN_CLI_OPEN_INDEX_H

#include <callsign/convert.h>
#include <callsign/index.h>

#include "ui/companion_options.h"

struct opened_index {
    struct csn_index *index;
    struct csn_bytes bytes;  /* of a conversion in memory */
    bool partial;            /* parts of the object's debug information could not be read */
};

/* False, with a message on stderr, when there is no index to be had. `companions`: for an object
 * file. */
bool open_index(const char *path, const struct companion_values *companions, struct opened_index *out);
/* The same for an object file only. */
bool open_object(const char *path, const struct companion_values *companions, struct opened_index *out);
void close_index(struct opened_index *opened); /* a zeroed one is fine */

#endif
