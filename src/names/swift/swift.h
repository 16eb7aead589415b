/* Names of Swift: "$s4main3fooyyF" and the schemes before it, "_T0" and "_T". Writes what `swift demangle` of Swift 6.3 writes. */
#ifndef CSNI_SWIFT_H
#define CSNI_SWIFT_H

#include "names/name_memory.h"
#include "names/name_text.h"

/* Whether `name` begins as names of Swift do; Mach-O's additional underscore may stand before that. */
bool csni_swift_is_mangled(struct csn_str name);

/* False: it cannot be read, or a limit was reached (or memory->failed); `out` then holds parts of an attempt. Depth,
 * steps and memory are limited. */
bool csni_swift_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out);

#endif
