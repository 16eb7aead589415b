/* From the path a caller gives to the file that is read. */
#ifndef CSNI_INPUT_PATH_H
#define CSNI_INPUT_PATH_H

#include "base/core/alloc.h"
#include "base/core/span.h"

/* A path to a dSYM bundle leads to the DWARF file inside, Contents/Resources/DWARF/NAME; every other path is taken as it is.
 * *out is NUL-terminated memory of `alloc`: free with csni_input_path_free(). CSN_E_NOT_FOUND, CSN_E_ARGUMENT (several files)
 * name the folder. */
csn_status csni_input_path(const char *path, const struct csn_allocator *alloc, char **out, struct csn_error *err);
void csni_input_path_free(const struct csn_allocator *alloc, char *path);

#endif
