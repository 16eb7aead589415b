/* Writing a GSYM file of version 1 as llvm-gsymutil lays it out. docs/formats/gsym.md */
#ifndef CALLSIGN_CLI_GSYM_ENCODE_H
#define CALLSIGN_CLI_GSYM_ENCODE_H

#include "stand_ins/gsymutil/gsym_build.h"

/* Writes the functions to `path`; with a segment size, to files PATH-0xSTART of about that many bytes. A new file
 * takes the place of the old one when it is complete. NULL, or why it failed: a text to be freed. */
char *gsym_save(struct gsym_build *build, const char *path, uint64_t segment_size);

#endif
