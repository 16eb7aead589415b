/* What the name of an output leads to. */
#ifndef CALLSIGN_CLI_OUTPUT_PATH_H
#define CALLSIGN_CLI_OUTPUT_PATH_H

#include <stdbool.h>

/* Whether both lead to one file: writing it would destroy the other. */
bool is_same_file(const char *a, const char *b);
/* The same of files that need not exist yet. */
bool is_same_target(const char *a, const char *b);

/* The path behind symbolic links, which a rename would replace instead of what they lead to; freed by the caller.
 * NULL: see errno. */
char *output_target(const char *path);

/* False, and says so: what -o names is "-", which elsewhere is standard output. Files are written whole, under another name, and
 * then renamed. */
bool output_is_file(const char *out);

#endif
