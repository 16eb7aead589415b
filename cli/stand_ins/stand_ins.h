/* Stand-ins: other symbolizers' command lines and outputs, byte for byte, so that programs that start those need not change.
 * docs/stand-ins.md lists them. */
#ifndef CALLSIGN_CLI_STAND_INS_H
#define CALLSIGN_CLI_STAND_INS_H

#include <stdbool.h>

#include "ui/command.h"

/* A program that callsign stands in for. argv[0] is the name that messages begin with. */
struct stand_in {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
    bool is_llvm;            /* standard output that cannot be written is an error */
};

/* The stand-in that a program name chooses: "addr2line", "x86_64-linux-gnu-addr2line", "llvm-symbolizer-22",
 * "callsign-atos". A path's last part decides. NULL: none. */
const struct stand_in *stand_in_of_program(const char *program);
/* Stand-in `i`, in the order of the help; NULL: there are no more. */
const struct stand_in *stand_in_at(size_t i);

/* The exit code, when all is written. */
int stand_in_end(const struct stand_in *stand_in, int status);

extern const struct command dialects_command;

#endif
