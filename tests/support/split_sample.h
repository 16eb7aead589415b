/* Split DWARF for tests: an image with two skeletons, their .dwo files, packages of them, and a resolver that gives
 * these.
 *
 * Unit u has the functions ns::fU [B, B+40) with ns::inU inlined at [B+8, B+10), and ns::TU::mU [B+100, B+110) and
 * [B+118, B+120), B being 1000 for unit 0 and 1400 for unit 1; the name of TU stands in a type unit. The second unit's
 * abbreviations and strings are numbered otherwise, so that those of the first would not do. */
#ifndef SPLIT_SAMPLE_H
#define SPLIT_SAMPLE_H

#include <callsign/companion.h>

#include "support/convert_sample.h"

enum { SPLIT_SAMPLE_UNITS = 2 };

/* Where something lies in a .dwo file's section. */
struct split_part {
    size_t off, size;
};

struct split_sample {
    uint16_t version;
    bool big;
    uint8_t dwo_address_size; /* as unit headers of .dwo files tell it */
    uint64_t ids[SPLIT_SAMPLE_UNITS]; /* of the split units */
    struct convert_sample image;
    struct dwarf_sample dwo[SPLIT_SAMPLE_UNITS];
    unsigned more_members[SPLIT_SAMPLE_UNITS], more_ranges[SPLIT_SAMPLE_UNITS]; /* DIEs like that of ns::TU::mU; parts of its range list */
    size_t padding[SPLIT_SAMPLE_UNITS]; /* bytes that no DIE uses */
    struct split_part code[SPLIT_SAMPLE_UNITS], type[SPLIT_SAMPLE_UNITS];
    struct wire files[SPLIT_SAMPLE_UNITS], packages[SPLIT_SAMPLE_UNITS];
};

void split_sample_init(struct split_sample *s, uint16_t version, bool big);
void split_sample_deinit(struct split_sample *s);

/* skeleton_ids: of the skeletons, both of which have code of their own. They name 0.dwo and 1.dwo. */
struct csni_span split_sample_image(struct split_sample *s, const uint64_t skeleton_ids[SPLIT_SAMPLE_UNITS]);
struct csni_span split_sample_dwo(struct split_sample *s, unsigned unit);
/* A package of units [first, first + count). */
struct csni_span split_sample_package(struct split_sample *s, unsigned first, unsigned count);

/* A resolver's context. */
struct split_files {
    struct csni_span dwo[SPLIT_SAMPLE_UNITS], packages[SPLIT_SAMPLE_UNITS]; /* empty: there is none */
    unsigned open;                    /* not released */
    unsigned asked;                   /* for packages and .dwo files */
    bool skips_none;                  /* the first package is given however many are to be skipped */
};
csn_companion_resolver split_files_resolve;

#endif
