/* How many bytes of code the input has a name, a line and inlined calls for: CSN_CONVERT_COVERAGE. */
#ifndef CSNI_COVERAGE_H
#define CSNI_COVERAGE_H

#include "convert/conversion.h"

/* What one worker met, in the image: in any order, overlapping. */
struct csni_coverage {
    csni_address_ranges lines;   /* of rows with a line, of live sequences */
    csni_address_ranges inlined; /* of inlined calls, as their DIEs have them */
};

csn_status csni_coverage_create(struct csni_conversion *c, struct csn_error *err);
void csni_coverage_destroy(struct csni_conversion *c);
/* Adds [low, high); false: out of memory. What the worker added last is made longer where it touches. */
bool csni_coverage_add(csni_address_ranges *ranges, uint64_t low, uint64_t high);
/* Sorts and joins the ranges from `first` on: those of one unit, so that few are kept. */
void csni_coverage_join(csni_address_ranges *ranges, size_t first);
/* Sums up, when the model's functions are chosen. Each figure counts bytes of executable sections once. */
csn_status csni_coverage_report(struct csni_conversion *c, const struct csni_model *model, struct csn_error *err);

#endif
