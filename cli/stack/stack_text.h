/* Stacks within text: lines of any dialect, shown as stacks or filled in place. */
#ifndef CALLSIGN_CLI_STACK_TEXT_H
#define CALLSIGN_CLI_STACK_TEXT_H

#include "stack/dialects/stack_dialect.h"

struct held_line;
struct stack_text {
    struct stack_session *session;
    struct stack_output *output;
    const struct stack_dialect *forced;  /* NULL: any */
    const struct stack_dialect *current; /* of the stack that is held; NULL: none is */
    struct dialect_state state;
    bool in_place;
    bool inside_long_line;
    struct held_line *held;              /* lines of the stack, with their frames */
    size_t held_count, held_room;
    char *bytes;                         /* their text */
    size_t byte_count, byte_room;
};

/* Whether --format may name it. */
bool stack_text_knows(const char *format);

/* `format` NULL: detected line by line. False: no memory; so everywhere here. */
bool stack_text_init(struct stack_text *text, struct stack_session *session, struct stack_output *output, bool in_place,
                     const char *format);
void stack_text_deinit(struct stack_text *text);
/* A line with its newline, or a part of a line that is too long. */
bool stack_text_line(struct stack_text *text, struct csn_str line, bool is_part);
/* Answers the stack that is held. */
bool stack_text_end(struct stack_text *text);

#endif
