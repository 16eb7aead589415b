/* Where the bytes of a GSYM file go, as llvm-gsymutil of LLVM 23 prints it (--statistics). */
#ifndef CALLSIGN_CLI_GSYM_STATISTICS_H
#define CALLSIGN_CLI_GSYM_STATISTICS_H

#include <stdbool.h>

enum gsym_statistics_format { GSYM_STATISTICS_TEXT, GSYM_STATISTICS_JSON, GSYM_STATISTICS_PRETTY_JSON };

/* NULL, or why the file of version 1 cannot be read. */
const char *gsym_print_statistics(const char *path, enum gsym_statistics_format format);

#endif
