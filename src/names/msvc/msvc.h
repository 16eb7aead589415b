/* Names of Microsoft's C++ compilers ("?f@@YAXXZ"). Writes what llvm-undname 22 writes. */
#ifndef CSNI_MSVC_H
#define CSNI_MSVC_H

#include "names/name_memory.h"
#include "names/name_text.h"

/* `name` begins with '?', or with '.' where it is the name of a type in run-time type information. False: it cannot be read, or a
 * limit was reached (or memory->failed); `out` then holds parts of an attempt. */
bool csni_msvc_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out);

#endif
