/* llvm-symbolizer and llvm-addr2line: the whole program. */
#ifndef CALLSIGN_CLI_LLVM_SYMBOLIZER_H
#define CALLSIGN_CLI_LLVM_SYMBOLIZER_H

/* Return the exit code. */
int llvm_symbolizer_main(int argc, char **argv);
int llvm_addr2line_main(int argc, char **argv);

#endif
