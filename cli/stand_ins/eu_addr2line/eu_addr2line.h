/* eu-addr2line of elfutils: the whole program. */
#ifndef CALLSIGN_CLI_EU_ADDR2LINE_H
#define CALLSIGN_CLI_EU_ADDR2LINE_H

/* Returns the exit code. */
int eu_addr2line_main(int argc, char **argv);

#endif
