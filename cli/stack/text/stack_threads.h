/* The input of `callsign stack` by several threads: each takes a part in turn, reads it while it alone may, answers
 * it beside the others, and writes it when those before are written. The output is that of one thread. */
#ifndef CALLSIGN_CLI_STACK_THREADS_H
#define CALLSIGN_CLI_STACK_THREADS_H

#include "stack/text/stack_part.h"
#include "ui/line_input.h"

struct stack_feed {
    struct stack_session *session; /* that stacks are read with */
    struct stack_output *output;   /* the example for those of the threads; written to in turn */
    struct line_input *input;
    bool in_place;
    uint64_t cache_bytes;          /* for each thread */
    void *context;
    /* Reads a line into the part. False: no memory. */
    bool (*read)(void *context, struct stack_part *part, struct csn_str line, bool is_part);
    /* Lines that were read may have waited for later ones: whether one is there, which comes before others; reads it;
     * nothing comes at all: none waits longer; nothing comes for a second: the same, and the stack so far is answered,
     * unless there are steps now. NULL: lines do not wait. */
    bool (*has_step)(void *context);
    bool (*step)(void *context, struct stack_part *part);
    void (*over)(void *context);
    bool (*idle)(void *context, struct stack_part *part);
    /* The input is over. */
    bool (*finish)(void *context, struct stack_part *part);
};

/* All of the input, beginning with a line that has been read. What was counted is added to the session's tally. False,
 * after a message if
 * memory ran out: see also the input's os_error. */
bool stack_threads_run(const struct stack_feed *feed, unsigned threads, struct csn_str line, bool is_part);

#endif
