/* The name table of a file that is being written. */
#ifndef CSNI_GSYM_WRITE_NAMES_H
#define CSNI_GSYM_WRITE_NAMES_H

#include "formats/gsym/write/gsym_write.h"

/* csni_gsym_write(), with a name table at the end of the file. */
csn_status csni_gsym_write_with_names(const struct csni_model *model, enum csni_gsym_target target, struct csni_pool *pool,
                                      const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err);

#endif
