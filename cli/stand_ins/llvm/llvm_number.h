/* Numbers as LLVM's tools read them. */
#ifndef CALLSIGN_CLI_LLVM_NUMBER_H
#define CALLSIGN_CLI_LLVM_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number as LLVM reads it: 0x, 0b and 0o in front, 0 for base 8; with base 16, digits alone. False: it is none. */
bool llvm_read_number(const char *text, size_t size, bool is_hex, uint64_t *out);

#endif
