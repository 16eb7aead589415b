/* The lines of one stack of text, held until it is complete. */
#ifndef CALLSIGN_CLI_HELD_STACK_H
#define CALLSIGN_CLI_HELD_STACK_H

#include "stack/lines/stack_dialect.h"
#include "stack/session/stack_output.h"
#include "ui/growing.h"

enum { HELD_NO_FRAME = UINT32_MAX };

/* A line, or a part of one that has several frames. */
struct held_line {
    size_t at, size;          /* in the text */
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
/* `read`: with a frame. False: no memory. */
bool held_stack_add(struct held_stack *held, struct csn_str line, uint32_t frame, const struct line_frame *read);
/* Writes the lines with the session's answers filled in; without `session`, as they came. `added`: as in fill_line(). */
void held_stack_fill(const struct held_stack *held, struct stack_output *output, const struct stack_session *session,
                     const struct stack_dialect *dialect, uint64_t *added);

#endif
