/* All functions of a name. */
#ifndef CALLSIGN_CLI_FUNCTIONS_OF_NAME_H
#define CALLSIGN_CLI_FUNCTIONS_OF_NAME_H

#include <callsign/inspect.h>

/* Their numbers, as csn_index_find_name() finds them; the caller frees *out. CSN_OK, CSN_NONE, or a failure. */
csn_status functions_of_name(const struct csn_index *index, struct csn_str name, uint32_t **out, size_t *count,
                             struct csn_error *err);

#endif
