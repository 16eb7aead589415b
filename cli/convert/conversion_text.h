/* A conversion's report as lines on stderr and as JSON. */
#ifndef CALLSIGN_CLI_CONVERSION_TEXT_H
#define CALLSIGN_CLI_CONVERSION_TEXT_H

#include <callsign/convert.h>

#include "convert/coverage.h"

/* Parts of the input were damaged or not there: the index lacks what they held. */
bool conversion_is_partial(const struct csn_convert_report *report);

/* One line: what was written to `out_path`. */
void conversion_report_summary(const char *out_path, const struct csn_convert_report *report);
/* A line for each kind of event that occurred: "3 dropped: function-without-name (first: ...)". What is normal in every
 * program, such as names that share their code, only with `verbose`. */
void conversion_report_events(const struct csn_convert_report *report, bool verbose);
/* The same, events of damage only. */
void conversion_report_damage(const char *path, const struct csn_convert_report *report);

/* Whether all functions come from symbol tables: the image is stripped, or built without debug information. */
bool conversion_has_symbols_only(const struct csn_convert_report *report);

/* The whole report as one object and a newline. `error` is NULL where the conversion succeeded; `index`: what lookups in the output
 * answer, NULL if it is not an index. */
void conversion_put_json(const char *input, const char *output, const char *error,
                         const struct csn_convert_report *report, const struct coverage *index, struct json_out *json);

#endif
