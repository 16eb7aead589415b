/* The line that heads a sample of `perf script`. Each of its fields may be missing (-F); they stand in this order:
 *
 *     app  4242/4243  [001]    12.345678:     250000 cycles:u:
 *
 * The thread's number stands alone unless the process was asked for, too. */
#ifndef CALLSIGN_CLI_PERF_HEAD_H
#define CALLSIGN_CLI_PERF_HEAD_H

#include "stack/lines/line_scan.h"
#include "stack/session/profile_sample.h"

/* A head with a number and a time, which hardly any other line has; `s` moves behind the time. */
bool perf_head_read(struct line_scan *s, struct profile_sample *out);
/* A head that lacks one of these: many other lines look like it. `ends_in_blank`: the line did, which perf's do. */
bool perf_head_read_part(struct csn_str line, bool ends_in_blank, struct profile_sample *out);

#endif
