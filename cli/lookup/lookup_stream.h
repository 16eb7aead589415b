/* Addresses on standard input, answered in the order of the lines, by several threads where there are many. */
#ifndef CALLSIGN_CLI_LOOKUP_STREAM_H
#define CALLSIGN_CLI_LOOKUP_STREAM_H

#include "lookup/lookup_target.h"

/* Answers until the end of the input; nothing waits for a line that is not there yet. Each thread answers as `printer` does,
 * which gets their counts. threads 0: one for each core that this process may use; none is started before a whole batch
 * of queries has come in. False: it failed, with a message unless it was `out` that failed. */
bool lookup_stream(struct lookup_target *target, struct answer_printer *printer, unsigned threads, struct out_buffer *out);

#endif
