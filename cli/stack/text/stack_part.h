/* A part of the input that has been read and is to be answered by another thread: stacks with their modules, and the
 * text between them. */
#ifndef CALLSIGN_CLI_STACK_PART_H
#define CALLSIGN_CLI_STACK_PART_H

#include "stack/text/held_stack.h"

/* Modules as they were when stacks were read, with their indexes; shared by the parts that need them. */
struct module_snapshot {
    struct module_table table;
    struct csn_module *placed; /* the same for a symbolicator */
    size_t placed_capacity;
    unsigned users;            /* guarded by the lock under which parts are filled */
};

struct part_item {
    enum { PART_TEXT, PART_STACK, PART_ERROR } kind;
    size_t at, size;           /* PART_TEXT, PART_ERROR: in the part's text */
    struct held_stack held;    /* PART_STACK, with buffers that are kept from part to part */
    struct csn_stack_frame *frames;
    size_t frame_count, frame_capacity;
    struct frame_symbols symbols;
    struct profile_sample sample;
    struct module_snapshot *modules;
    const struct stack_dialect *dialect; /* NULL: it was no text */
    bool goes_on;              /* the stack before was too long, and goes on with this one */
};

struct stack_part {
    struct part_item *items;
    size_t count, capacity, initialized; /* items that have been used before have buffers */
    struct text_buffer text;
    size_t frame_count;
    size_t module_count;       /* in all snapshots of the part */
    uint64_t stack_count;      /* of stacks and errors */
    struct module_snapshot *latest; /* NULL: none has been made */
    bool latest_is_own;        /* it was made for this part: no other thread has seen it */
    struct module_snapshot *kept;   /* that the session which answers parts still has */
    bool wants_trim;           /* the store is full: indexes are closed before the next part */
    void (*before_trim)(void *context); /* called before indexes are closed: nobody may use one */
    void *context;
};

void stack_part_deinit(struct stack_part *part);
/* Empties it: snapshots lose their users. */
void stack_part_clear(struct stack_part *part);
/* Whether it is large enough to be answered. A stack that goes on stays with the one before. */
bool stack_part_is_full(const struct stack_part *part);

/* False: no memory; so everywhere here. */
bool stack_part_add_text(struct stack_part *part, struct csn_str text);
bool stack_part_add_error(struct stack_part *part, const char *text);
/* The session's stack and its lines, whose buffers are taken and others given. `held`, `dialect`: NULL if it was no text. */
bool stack_part_add_stack(struct stack_part *part, struct stack_session *session, struct held_stack *held,
                          const struct stack_dialect *dialect, bool goes_on);

/* Answers and writes everything with a session of one's own, which has only a symbolicator. *added: as in
 * fill_line(), of the last stack of the part before. */
bool stack_part_answer(const struct stack_part *part, struct stack_session *session, struct stack_output *output, bool in_place,
                       uint64_t *added);

#endif
