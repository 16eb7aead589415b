/* The libraries of a JVM's hs_err file, which stand after the frames that need them. */
#ifndef CALLSIGN_CLI_JVM_LIBRARIES_H
#define CALLSIGN_CLI_JVM_LIBRARIES_H

#include "stack/stack_modules.h"

/* Reads ahead for the list "Dynamic libraries:" in the file `fd`, whose offset stays, if `first` begins like an hs_err file. What is
 * no regular file is left alone: its list comes too late. False: no memory. */
bool jvm_libraries_read(struct stack_modules *modules, int fd, struct csn_str first);

#endif
