/* atos of macOS: the whole program. */
#ifndef CALLSIGN_CLI_ATOS_H
#define CALLSIGN_CLI_ATOS_H

/* Returns the exit code. */
int atos_main(int argc, char **argv);

#endif
