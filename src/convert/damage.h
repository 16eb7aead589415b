/* What a conversion lost, for those who keep its result. */
#ifndef CSNI_CONVERT_DAMAGE_H
#define CSNI_CONVERT_DAMAGE_H

#include <callsign/convert.h>

/* Whether another conversion may give more: when damage is repaired, or a file that was missing is there. */
bool csni_report_may_grow(const struct csn_convert_report *report);

#endif
