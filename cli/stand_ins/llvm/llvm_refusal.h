/* Why LLVM cannot read a file, in its words. */
#ifndef CALLSIGN_CLI_LLVM_REFUSAL_H
#define CALLSIGN_CLI_LLVM_REFUSAL_H

#include <stdbool.h>

/* Whether it is a file of several images, by its first bytes. */
bool llvm_is_universal(const char *path);
/* Why the file cannot be opened, or is none of which one object is chosen; NULL: it can be tried. `arch` may be NULL.
 * by_code: as llvm-gsymutil, which says of damage no more than that it is there. The text is good until the next call. */
const char *llvm_refusal_before(const char *path, const char *arch, bool by_code);
/* Why it is no object, after it could not be read as one. */
const char *llvm_refusal_after(const char *path, const char *arch, bool by_code);

#endif
