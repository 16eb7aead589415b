/* The lines of one stack of text, held until it is complete. */
#ifndef CALLSIGN_CLI_HELD_STACK_H
#define CALLSIGN_CLI_HELD_STACK_H

#include "stack/lines/stack_dialect.h"
#include "stack/session/stack_output.h"
#include "stack/text/log_lines.h"

enum { HELD_NO_FRAME = UINT32_MAX };

/* A line, or a part of one that has several frames. */
struct held_line {
    size_t at, size;          /* of what was written, in the text */
    size_t text_at;           /* of what was read: the same, unless it was coded */
    struct log_line line;     /* without its pointers */
    uint32_t frame;           /* of the session; HELD_NO_FRAME: a line between frames */
    struct line_frame read;
    size_t module_at;         /* of read.module within the line; SIZE_MAX: it is elsewhere */
};

struct held_stack {
    struct held_line *lines;
    size_t count, capacity;
    struct text_buffer text;
};

void held_stack_clear(struct held_stack *held);
void held_stack_deinit(struct held_stack *held);
/* `read`: what a dialect read in it; NULL: none did. False: no memory. */
bool held_stack_add(struct held_stack *held, const struct log_line *line, uint32_t frame, const struct line_frame *read);
/* A line as it is to be written without an answer. */
static inline struct csn_str held_stack_raw(const struct held_stack *held, size_t i) {
    return (struct csn_str){ held->text.bytes + held->lines[i].at, held->lines[i].size };
}
/* Writes the lines with the session's answers filled in; without `session`, as they came. `added`: as in fill_line(). */
void held_stack_fill(const struct held_stack *held, struct stack_output *output, const struct stack_session *session,
                     const struct stack_dialect *dialect, uint64_t *added);

#endif
