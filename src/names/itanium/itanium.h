/* C++ names of the Itanium ABI, which all compilers but Microsoft's use. Writes what llvm-cxxfilt 22 writes, but for
 * what docs/demangling.md names. */
#ifndef CSNI_ITANIUM_H
#define CSNI_ITANIUM_H

#include "names/name_memory.h"
#include "names/name_text.h"

/* `name` begins with one to four underscores and 'Z'. `flags`: of csn_demangle_with(). False: it cannot be read, or a limit was reached
 * (or memory->failed); `out` then holds parts of an attempt. Depth, steps and memory are limited, none depends on the length of the
 * text. */
bool csni_itanium_demangle(struct csn_str name, uint32_t flags, struct csni_name_memory *memory, struct csni_name_text *out);

#endif
