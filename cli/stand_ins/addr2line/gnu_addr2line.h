/* GNU addr2line: the whole program. */
#ifndef CALLSIGN_CLI_GNU_ADDR2LINE_H
#define CALLSIGN_CLI_GNU_ADDR2LINE_H

/* Returns the exit code. */
int gnu_addr2line_main(int argc, char **argv);

#endif
