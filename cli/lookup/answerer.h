/* What `callsign lookup` answers with: asks an index, writes the answers and counts what went wrong. One for each thread. */
#ifndef CALLSIGN_CLI_ANSWERER_H
#define CALLSIGN_CLI_ANSWERER_H

#include "lookup/answer.h"

struct answerer {
    bool json, merged;      /* how to write: as JSON; with all functions that share the code */
    struct asker asker;
    struct name_text names;
    uint64_t damaged_count; /* addresses whose record could not be read */
    bool partial;           /* not all was found */
};

/* Another one that answers the same, with memory of its own. False: no memory. */
bool answerer_init_like(struct answerer *answerer, const struct answerer *other);
void answerer_deinit(struct answerer *answerer);
/* Counts also what the other has counted. */
void answerer_add_counts(struct answerer *answerer, const struct answerer *other);

/* Asks one question and answers it: an address or, in an image of many binaries, NAME+0xOFFSET. False: it is neither. */
bool answerer_answer(struct answerer *answerer, struct csn_str question, struct out_buffer *out);
/* False: some of the functions that share the answer's code could not be read. */
bool answerer_write(struct answerer *answerer, const struct answer *answer, struct out_buffer *out);
/* The same, and counts. */
void answerer_put(struct answerer *answerer, const struct answer *answer, struct out_buffer *out);
/* A line that is no address is answered in its place, so that answers stay in step with questions. At most BAD_LINE_SHOWN
 * bytes of it. */
enum { BAD_LINE_SHOWN = 64 };
void answerer_put_bad_line(struct answerer *answerer, struct csn_str line, uint64_t number, struct out_buffer *out);

#endif
