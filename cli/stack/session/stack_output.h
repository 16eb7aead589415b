/* Answered stacks as text and as JSON. */
#ifndef CALLSIGN_CLI_STACK_OUTPUT_H
#define CALLSIGN_CLI_STACK_OUTPUT_H

#include "lookup/answer.h"
#include "stack/session/stack_session.h"
#include "ui/text_cache.h"

struct stack_output {
    struct out_buffer *out;
    struct name_text *names;
    bool json, explain;
    uint64_t stack_count;
    struct text_cache kept; /* of one sort in one run: JSON, text, or what is filled in */
};

/* A text that may have been written before, or is kept for the next time. */
struct output_piece {
    struct text_key key;
    size_t begin;           /* in the buffer */
    uint64_t flushed;
};
/* True: it was written again, and *mark is what it was kept with. False: it is to be written, and to end. */
bool output_piece_begin(struct stack_output *output, const struct csn_stack_answer *answer, struct output_piece *out,
                        uint32_t *mark);
void output_piece_end(struct stack_output *output, const struct output_piece *piece, uint32_t mark);

/* The session's stack. */
void output_stack(struct stack_output *output, const struct stack_session *session);
/* In place of a stack that could not be understood. */
void output_error(struct stack_output *output, const char *text);
/* The reasoning for one frame as a sentence or several, without a newline; nothing where there is one name only. */
void output_reasoning(struct stack_output *output, const struct stack_session *session, size_t frame);
/* How sure the name is: " [1 of 2: by the caller]", " [2 of 3 possible]"; nothing where there is one name only. */
void output_certainty(struct stack_output *output, const struct csn_stack_answer *answer);
/* Why there is no function. */
const char *output_failure(const struct csn_stack_answer *answer);

#endif
