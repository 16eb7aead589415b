/* "-" as the name of an object file. */
#ifndef CALLSIGN_CLI_SPOOLED_INPUT_H
#define CALLSIGN_CLI_SPOOLED_INPUT_H

/* A path under which all of standard input can be opened, as long as the program runs. It is read once. */
const char *spooled_input_path(void);

/* The path itself, or that of standard input for "-". */
const char *input_path(const char *path);

#endif
