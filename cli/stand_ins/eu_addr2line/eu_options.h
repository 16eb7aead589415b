/* The command line of eu-addr2line. */
#ifndef CALLSIGN_CLI_EU_OPTIONS_H
#define CALLSIGN_CLI_EU_OPTIONS_H

#include "stand_ins/eu_addr2line/eu_print.h"

/* Takes the options, and opens the process, the core dump or the kernel that they name. -1: go on with the arguments
 * from optind on; else the exit code. */
int eu_options_read(struct eu *e, int argc, char **argv);

#endif
