/* All functions that share the code at an address: the one that an answer shows, and those folded into it. */
#ifndef CALLSIGN_CLI_CANDIDATES_H
#define CALLSIGN_CLI_CANDIDATES_H

#include "lookup/answer.h"

/* A line for each further function, "or beta + 5 at /src/b.c:5", below the answer. False: what is folded here cannot be read. */
bool candidates_put_text(const struct csn_index *index, const struct answer *answer, struct name_text *names,
                         struct out_buffer *out);
/* The member "candidates" of the answer's object: all names, the one shown first. Nothing for an answer without a function. */
bool candidates_put_json(const struct csn_index *index, const struct answer *answer, struct name_text *names,
                         struct json_out *json);

#endif
