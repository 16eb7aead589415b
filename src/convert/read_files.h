/* Files that a conversion reads, none of which its output may replace. */
#ifndef CSNI_READ_FILES_H
#define CSNI_READ_FILES_H

#include "convert/conversion.h"

/* Notes the file at `path`; one that is not there, such as a name for messages only, is none. Not for two threads at once. */
csn_status csni_note_read_file(struct csni_conversion *c, const char *path, struct csn_error *err);
/* CSN_E_ARGUMENT: what is at `path`, under whatever name, was noted. */
csn_status csni_check_not_read(const struct csni_conversion *c, const char *path, struct csn_error *err);

#endif
