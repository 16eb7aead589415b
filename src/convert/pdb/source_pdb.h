/* Program databases as sources: one batch for each module, and one for public symbols. */
#ifndef CSNI_SOURCE_PDB_H
#define CSNI_SOURCE_PDB_H

#include "convert/conversion.h"

/* A PDB as the input: addresses are those of an image whose base is 0. */
csn_status csni_source_pdb_file(struct csni_conversion *c, struct csn_error *err);

/* The PDB of the image that is converted. Its identity was checked. `path` is for messages. */
csn_status csni_source_pdb_of_image(struct csni_conversion *c, struct csni_span file, const char *path, struct csn_error *err);

#endif
