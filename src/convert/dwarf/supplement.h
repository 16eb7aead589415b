/* The supplementary file of an image's DWARF, where dwz put what several images have in common. */
#ifndef CSNI_SUPPLEMENT_H
#define CSNI_SUPPLEMENT_H

#include "convert/companions.h"

enum { CSNI_SUPPLEMENT_SECTIONS = 6 };

struct csni_supplement {
    struct csni_conversion *conversion;
    struct csn_str name;      /* as the image has it; empty: it names none */
    struct csn_error told;    /* why it was not found, as far as the resolver says */
    struct csni_object *object; /* NULL: not found. The conversion keeps it: strings may be views into its sections */
    struct csni_dwarf *dwarf;
    uint32_t section[CSNI_SUPPLEMENT_SECTIONS];
    struct csni_span bytes[CSNI_SUPPLEMENT_SECTIONS];
    uint64_t size;            /* of all of them */
};

/* Asks for the supplement that `object`, which has DWARF, names, and gets its units ready to be referred to. CSN_NONE: there
 * is no such file, or none is named; *out holds the name all the same. Close it in any case. */
csn_status csni_supplement_open(struct csni_conversion *c, struct csni_object *object, struct csni_supplement *out,
                                struct csn_error *err);
void csni_supplement_close(struct csni_supplement *supplement);

/* Counts in the report what is known to be missing. */
void csni_supplement_report(const struct csni_supplement *supplement);

#endif
