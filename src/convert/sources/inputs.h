/* What is given to convert: kinds of files, and paths that lead to them. */
#ifndef CSNI_INPUTS_H
#define CSNI_INPUTS_H

#include "base/core/file_map.h"
#include "convert/conversion.h"

/* A kind of file that convert reads: a row of the table in inputs.c. */
struct csni_input_kind {
    const char *name;
    bool (*recognize)(struct csni_span file); /* by the first 4 KiB at most */
    /* Fills c->image and adds batches. Their strings may be views into the input and into what the conversion keeps. */
    csn_status (*read)(struct csni_conversion *c, struct csn_error *err);
};
/* What a file is that convert does not read, and why, for an error; NULL: not known. */
const char *csni_unread_kind_of(struct csni_span file);
/* NULL: of no kind that is known. */
const struct csni_input_kind *csni_input_kind_of(struct csni_span file);

struct csni_input_file {
    const struct csn_allocator *alloc;
    char *path;               /* of the file that is mapped */
    struct csni_file_map map;
};
/* Maps the file at `path`. In a dSYM bundle, which is a folder, that is the DWARF file
 * Contents/Resources/DWARF/NAME. CSN_E_NOT_FOUND, CSN_E_ARGUMENT (several files) name the folder. */
csn_status csni_input_file_open(struct csni_input_file *file, const char *path, const struct csn_allocator *alloc,
                                struct csn_error *err);
void csni_input_file_close(struct csni_input_file *file);

#endif
