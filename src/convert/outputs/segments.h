/* An index in several files. */
#ifndef CSNI_SEGMENTS_H
#define CSNI_SEGMENTS_H

#include "convert/conversion.h"

/* Writes a finalized and linked model to PATH-0xSTART, a file each for about options.gsym->segment_size bytes, and then
 * PATH-manifest.json, which lists them. */
csn_status csni_write_segments(struct csni_conversion *c, const struct csni_model *model, const char *path,
                               struct csn_error *err);

#endif
