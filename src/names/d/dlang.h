/* D names (D language specification, "Name Mangling"). Writes what binutils' c++filt writes. */
#ifndef CSNI_DLANG_H
#define CSNI_DLANG_H

#include "names/name_memory.h"
#include "names/name_text.h"

/* `name` begins with "_D". False: it cannot be read, or a limit was reached (or memory->failed). */
bool csni_dlang_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out);

#endif
