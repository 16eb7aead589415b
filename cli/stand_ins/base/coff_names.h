/* Names of symbols of 32-bit Windows, as their table has them. */
#ifndef CALLSIGN_CLI_COFF_NAMES_H
#define CALLSIGN_CLI_COFF_NAMES_H

#include <callsign/base.h>

/* The name with the underscore that the reader took off, if it had one. The caller frees it. */
char *coff_table_name(struct csn_str name);

#endif
