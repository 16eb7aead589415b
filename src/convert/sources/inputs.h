/* What is given to convert: kinds of files, and paths that lead to them. */
#ifndef CSNI_INPUTS_H
#define CSNI_INPUTS_H

#include "convert/conversion.h"

/* A kind of file that convert reads: a row of the table in inputs.c. */
struct csni_input_kind {
    const char *name;
    bool (*recognize)(struct csni_span file); /* by the first 4 KiB at most */
    /* Fills c->image and adds batches. Their strings may be views into the input and into what the conversion keeps. */
    csn_status (*read)(struct csni_conversion *c, struct csn_error *err);
};
/* NULL: of no kind that is known. */
const struct csni_input_kind *csni_input_kind_of(struct csni_span file);

/* A path to a dSYM bundle leads to the DWARF file inside, Contents/Resources/DWARF/NAME; every other path is taken as it is.
 * *out is NUL-terminated memory of `alloc`: free with csni_input_path_free(). CSN_E_NOT_FOUND, CSN_E_ARGUMENT (several files)
 * name the folder. */
csn_status csni_input_path(const char *path, const struct csn_allocator *alloc, char **out, struct csn_error *err);
void csni_input_path_free(const struct csn_allocator *alloc, char *path);

#endif
