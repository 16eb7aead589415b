/* How many bytes of code have a name, a line and inlined calls: in an input, as its conversion reports, and in an index. */
#ifndef CALLSIGN_CLI_COVERAGE_H
#define CALLSIGN_CLI_COVERAGE_H

#include <callsign/convert.h>
#include <callsign/inspect.h>

#include "ui/json_out.h"

struct coverage {
    uint64_t name, line, inlined; /* bytes for which lookups answer with one */
};

/* Goes through all functions. False, with a message: out of memory. */
bool coverage_of_index(const struct csn_index *index, struct coverage *out);

/* "coverage":{"code":N,"name":{"input":N,"index":N},...}; `index` NULL: the output is not an index that lookups read. */
void coverage_put_json(const struct csn_convert_report *report, const struct coverage *index, struct json_out *json);
/* The same as four lines of text. */
void coverage_put_text(const struct csn_convert_report *report, const struct coverage *index, struct out_buffer *out);

#endif
