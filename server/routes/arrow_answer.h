/* Answers as a stream of Arrow's IPC format: a row for each address.
 * frames: list<struct<function: utf8, offset: uint64, file: utf8, line: uint32, inlined: bool>>, innermost first; reason: utf8. */
#ifndef CALLSIGN_SERVER_ARROW_ANSWER_H
#define CALLSIGN_SERVER_ARROW_ANSWER_H

#include "routes/lookup.h"

/* A column that grows: bits of validity, ends of its elements, and data. */
struct arrow_column {
    struct text validity, ends, data;
    uint64_t count, nulls;
};
struct arrow_answer {
    struct arrow_column frames, function, offset, file, line, inlined, reason;
};

void arrow_answer_free(struct arrow_answer *answer);
void arrow_put_schema(struct text *out);
/* A row whose address or module is null. */
void arrow_add_null(struct arrow_answer *answer);
/* A row; `symbols` NULL: there are none, `why` says why. */
void arrow_add_row(struct arrow_answer *answer, struct lookup *lookup, struct symbols *symbols, csn_status status, const char *why);
/* Bytes of the rows so far. */
uint64_t arrow_answer_size(const struct arrow_answer *answer);
/* A batch of the rows that were added, and begins anew. False: no memory, or a column of more than 2 GiB. */
bool arrow_put_batch(struct arrow_answer *answer, struct text *out);
void arrow_put_end(struct text *out);

#endif
