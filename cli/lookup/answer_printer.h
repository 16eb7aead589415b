/* Queries an index for `callsign lookup`, prints the answers and counts what went wrong. One for each thread. */
#ifndef CALLSIGN_CLI_ANSWER_PRINTER_H
#define CALLSIGN_CLI_ANSWER_PRINTER_H

#include "lookup/answer.h"

struct answer_printer {
    bool json, merged;      /* how to write: as JSON; with all functions that share the code */
    struct index_query query;
    struct name_text names;
    uint64_t damaged_count; /* addresses whose record could not be read */
    bool partial;           /* not all was found */
    uint64_t loaded_addr;   /* the first that was not found and looks like one of a running process; 0: none */
};

/* Another one that answers the same, with memory of its own. False: no memory. */
bool answer_printer_init_like(struct answer_printer *printer, const struct answer_printer *other);
void answer_printer_deinit(struct answer_printer *printer);
/* Counts also what the other has counted. */
void answer_printer_add_counts(struct answer_printer *printer, const struct answer_printer *other);

/* Runs one query and prints its answer: an address or, in an image of many binaries, NAME+0xOFFSET. False: it is neither. */
bool answer_printer_run(struct answer_printer *printer, struct csn_str text, struct out_buffer *out);
/* False: some of the functions that share the answer's code could not be read. */
bool answer_printer_write(struct answer_printer *printer, const struct answer *answer, struct out_buffer *out);
/* The same, and counts. */
void answer_printer_put(struct answer_printer *printer, const struct answer *answer, struct out_buffer *out);
/* A line that is no address is answered in its place, so that answers stay in step with queries. At most BAD_LINE_SHOWN
 * bytes of it. */
enum { BAD_LINE_SHOWN = 64 };
/* `fault`: what it is, see address_fault(). */
void answer_printer_put_bad_line(struct answer_printer *printer, struct csn_str line, const char *fault, uint64_t number,
                                 struct out_buffer *out);
/* The same for an operand. `shown` false: no answer in its place. */
void answer_printer_put_bad_operand(struct answer_printer *printer, struct csn_str text, const char *fault, bool shown,
                                    struct out_buffer *out);
/* Whether an index is to be opened: one operand may be answered, or there are none. False: each was told what it is. */
bool answer_printer_has_query(char **operands, int count, bool (*is_query)(struct csn_str text));

#endif
