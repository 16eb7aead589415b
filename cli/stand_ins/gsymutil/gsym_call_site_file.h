/* The YAML file of --callsites-yaml-file. */
#ifndef CALLSIGN_CLI_GSYM_CALL_SITE_FILE_H
#define CALLSIGN_CLI_GSYM_CALL_SITE_FILE_H

#include "stand_ins/gsymutil/gsym_build.h"

/* Adds the call sites of a file to the functions that it names. NULL, or why it failed: a text to be freed. Where the file is
 * damaged, the place is printed on standard error. */
char *gsym_add_call_sites(struct gsym_build *build, const char *path);

#endif
