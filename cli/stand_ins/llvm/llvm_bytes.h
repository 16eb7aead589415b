/* Bytes of a section as LLVM's reader takes them: after the first that are missing it reads zeros, and keeps why. */
#ifndef CALLSIGN_CLI_LLVM_BYTES_H
#define CALLSIGN_CLI_LLVM_BYTES_H

#include "stand_ins/llvm/llvm_module.h"

struct llvm_bytes {
    const unsigned char *bytes;
    uint64_t at, size;
    bool big;
    bool is_64;              /* what llvm_take_length() read is of the format with 64 bits */
    char why[160];           /* empty: nothing was missing */
};

struct llvm_bytes llvm_section_bytes(const struct llvm_module *module, const char *name);
uint64_t llvm_take(struct llvm_bytes *b, unsigned size);
uint64_t llvm_take_leb(struct llvm_bytes *b);
/* The length of a unit, of a set or of a table. */
uint64_t llvm_take_length(struct llvm_bytes *b);
/* Steps over a string. False: it has no end. *empty: it has no text. */
bool llvm_skip_text(struct llvm_bytes *b, bool *empty);
void llvm_skip(struct llvm_bytes *b, uint64_t size);

#endif
