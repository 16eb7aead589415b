/* Writing the section-embedded GSYM of 2017 from a finalized and linked model: the bytes of its section and of its strings.
 * What puts them into an object file is src/embed; of C and D, csni_gsection_set_strings_offset() then says where
 * the strings are. */
#ifndef CSNI_GSECTION_WRITE_H
#define CSNI_GSECTION_WRITE_H

#include "base/core/vec.h"
#include "model/model.h"

struct csni_gsection_options {
    char revision;               /* 'A' to 'E'; F and G are GSYM version 1 in a section */
    bool script;                 /* of B: exactly as that day's script wrote it, so that it can read it */
    struct csn_str strings_name; /* A, B: the section that the strings will be in */
    struct csni_span shared;     /* A, B: strings that stand in that section already; empty: none */
};

typedef CSNI_VEC(uint8_t) csni_bytes;

struct csni_gsection_image {
    csni_bytes section;
    csni_bytes strings;          /* of A to D: their own section, or what goes past `shared` */
    uint64_t strings_found;      /* in `shared` */
};

/* CSN_E_NOT_FOUND: no functions. CSN_E_LIMIT names what does not fit 4 GiB. Adds sizes and counts to `report`. */
csn_status csni_gsection_build(const struct csni_model *model, const struct csni_gsection_options *options,
                               struct csni_gsection_image *out, struct csn_convert_report *report, struct csn_error *err);
void csni_gsection_image_free(struct csni_gsection_image *image);

/* ---- gsection_write_strings.c ---- */

enum { CSNI_NO_STRING = UINT32_MAX };

/* Where each string of the model stands in `table`, whole or as the end of a longer one; CSNI_NO_STRING where it does not.
 * With `whole`, whole strings only. */
csn_status csni_gsection_find_strings(const struct csni_model *model, struct csni_span table, bool whole, uint32_t *out,
                                      struct csn_error *err);

#endif
