/* Whether two paths lead to one file: writing one would then destroy the other. */
#ifndef CALLSIGN_CLI_SAME_FILE_H
#define CALLSIGN_CLI_SAME_FILE_H

#include <stdbool.h>

bool is_same_file(const char *a, const char *b);
/* A file that need not exist yet. */
bool is_same_target(const char *a, const char *b);

#endif
