/* The image's debug file, where its debug information was split off: an object file, or a program database. */
#ifndef CSNI_DEBUG_FILE_H
#define CSNI_DEBUG_FILE_H

#include "convert/companions.h"

struct csni_debug_file {
    struct csni_companion_file *file; /* NULL: none */
    struct csni_object *object;       /* NULL: none, or a PDB */
    bool is_pdb;
};

/* Asks for the image's debug file. An image that has debug information of its own gets one only if the user chose it. What is
 * missing is noted. CSN_E_FORMAT: it belongs to another build; the text names both ids. */
csn_status csni_find_debug_file(struct csni_conversion *c, struct csni_debug_file *out, struct csn_error *err);

/* Whether an object has units of DWARF. */
bool csni_has_dwarf(const struct csni_object *object);

/* Sets c->stripped where the output has records for unwinding and the object is a debug-only file, whose sections for that have no
 * bytes. That there is no such image is normal. */
csn_status csni_find_stripped_image(struct csni_conversion *c, struct csn_error *err);

#endif
