/* All functions of a name. */
#ifndef CALLSIGN_CLI_FUNCTIONS_OF_NAME_H
#define CALLSIGN_CLI_FUNCTIONS_OF_NAME_H

#include <callsign/inspect.h>

/* Their numbers, as csn_index_find_name() finds them; the caller frees them. NULL: no memory. */
uint32_t *functions_of_name(const struct csn_index *index, struct csn_str name, size_t *count);

#endif
