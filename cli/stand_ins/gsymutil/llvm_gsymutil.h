/* llvm-gsymutil: the whole program. */
#ifndef CALLSIGN_CLI_LLVM_GSYMUTIL_H
#define CALLSIGN_CLI_LLVM_GSYMUTIL_H

/* Returns the exit code. */
int llvm_gsymutil_main(int argc, char **argv);

#endif
