/* Functions from DWARF. */
#ifndef CSNI_SOURCE_DWARF_H
#define CSNI_SOURCE_DWARF_H

#include "convert/conversion.h"

/* An object file with DWARF for the image, or for a part of it. */
struct csni_dwarf_input {
    struct csni_object *object;
    const struct csni_address_map *map; /* of a part: where its functions are in the image; NULL: at the same addresses */
    bool releases_later;                /* sections are listed in conversion->read_sections where it has other workers */
};

/* Functions from DWARF: one batch per unit. The strings of batches are views into sections of the object. */
csn_status csni_source_dwarf(struct csni_conversion *c, const struct csni_dwarf_input *input, struct csn_error *err);

#endif
