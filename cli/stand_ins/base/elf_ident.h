/* What GNU's tools and elfutils refuse in the first bytes of an ELF file, while LLVM and the library do not look at it. */
#ifndef CALLSIGN_CLI_ELF_IDENT_H
#define CALLSIGN_CLI_ELF_IDENT_H

#include <stdbool.h>

/* Whether EI_VERSION is the version that there is. True for what cannot be read: that is not what is wrong with it. */
bool elf_ident_is_current(const char *path);

#endif
