/* Files of one unit: from DWARF file numbers to files of the batch. */
#ifndef CSNI_UNIT_FILES_H
#define CSNI_UNIT_FILES_H

#include "convert/dwarf/unit_job.h"

/* For csni_unit_file(): of a number that is asked for for the first time. */
csn_status csni_unit_find_file(struct csni_unit_job *job, uint64_t dwarf_file, uint32_t *out);
/* The batch file for a DWARF file number; CSN_NONE: there is no such file. */
static inline csn_status csni_unit_file(struct csni_unit_job *job, uint64_t dwarf_file, uint32_t *out) {
    uint32_t known = dwarf_file < job->file_numbers.count ? job->file_numbers.items[dwarf_file] : 0;
    if (!known) return csni_unit_find_file(job, dwarf_file, out);
    *out = known - 1;
    return CSN_OK;
}

#endif
