/* What the files that check a GSYM file share. */
#ifndef CSNI_GSYM_VERIFY_H
#define CSNI_GSYM_VERIFY_H

#include "formats/gsym/read/gsym.h"

struct csni_gsym_verifier {
    const struct csni_gsym *gsym;
    csn_verify_callback *callback;
    void *context;
    struct csn_verify_counts *counts;
    struct csn_error err; /* the problem being told */
    uint64_t work_left;   /* bytes of records, and ranges compared, that may still be read */
    bool stopped;
};

/* Tells the problem in `err`. */
void csni_gsym_tell(struct csni_gsym_verifier *v);
/* A string table offset that stands at `at`. */
void csni_gsym_check_strp(struct csni_gsym_verifier *v, const char *section, uint64_t at, const char *what, uint64_t strp);

/* Everything but addresses and records: directory, strings, file table, search guide. */
void csni_gsym_verify_tables(struct csni_gsym_verifier *v);

#endif
