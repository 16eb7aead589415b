/* The libraries of a JVM's hs_err file, which stand after the frames that need them. */
#ifndef CALLSIGN_CLI_JVM_LIBRARIES_H
#define CALLSIGN_CLI_JVM_LIBRARIES_H

#include "stack/lines/stack_modules.h"
#include "ui/line_input.h"

/* Reads ahead for the list "Dynamic libraries:" if `line`, the first of the input, begins like an hs_err file. Of a
 * regular file only the list is read, from the file; of a pipe the report is kept in memory up to the list, at most
 * JVM_REPORT_MAX bytes of it: a list that comes later is too late. `line` may move in memory. False: no memory, or
 * reading failed. */
enum { JVM_REPORT_MAX = 16 << 20 };
bool jvm_libraries_read(struct stack_modules *modules, struct line_input *input, struct csn_str *line);

#endif
