/* Stacks within text: lines of any dialect, shown as stacks or filled in place. */
#ifndef CALLSIGN_CLI_STACK_TEXT_H
#define CALLSIGN_CLI_STACK_TEXT_H

#include "stack/lines/stack_modules.h"
#include "stack/session/stack_output.h"
#include "stack/text/held_stack.h"
#include "stack/text/line_queue.h"
#include "stack/text/stack_part.h"

enum { DIALECT_CACHE = 256 };

struct stack_text {
    struct stack_session *session;
    struct stack_output *output;
    const struct stack_dialect *const *dialects;
    void **states;                /* one for each dialect */
    uint64_t *searched_to;        /* for each dialect: it has searched the lines before this number */
    size_t dialect_count;
    uint64_t flush_dialects;      /* a bit for each whose lines begin with the line */
    size_t forced, current;       /* the only dialect; that of the stack that is held; NO_DIALECT */
    struct dialects_by_marks {
        uint32_t marks;
        bool known;
        uint64_t dialects;        /* a bit for each that reads lines with these marks */
    } by_marks[DIALECT_CACHE];
    size_t awake;                 /* the dialect that the line before told something; NO_DIALECT */
    struct log_lines lines;       /* of the line that is being read */
    struct text_source source, searched; /* of the line before; of the last one that waits */
    bool is_spread;               /* the stack's last line was that of a record that is spread over lines */
    unsigned others;              /* lines that are no text, or records of other writers, since then */
    struct stack_modules modules;
    bool in_place;
    bool inside_long_line;
    size_t margin;                /* blanks before the lines of what is read: they are those of a mail, an issue, a list */
    bool interrupted;             /* the last frame of the stack is a signal's: the next one made no call */
    struct held_stack held;       /* lines of the stack, with their frames */
    uint32_t last_frame;          /* of the last line with one; HELD_NO_FRAME */
    struct line_frame *pieces;    /* the frames of one line */
    size_t piece_count, piece_capacity;
    uint64_t added_lines;         /* of inlined calls, in the stack so far */
    bool goes_on;                 /* the stack that is held continues one that was too long */
    enum search_kind { SEARCH_NONE, SEARCH_DIALECT, SEARCH_MAPS } searching; /* later lines are looked at first */
    size_t searching_dialect;
    struct line_queue waiting;    /* the lines since the one that began the search */
    struct line_queue queue;      /* lines of searches that have ended, which are read before others; the next is `queue_at` */
    size_t queue_at;
    uint64_t line_count, first_waiting, first_queued; /* lines given; the numbers of the first ones that wait */
    uint64_t maps_searched_to;    /* the lines before this number have been searched for lists of modules */
    uint32_t maps_found, lines_since_map;
    struct stack_part *part;      /* gets what would be answered or written; NULL: that is done at once */
};

/* `dialects` are tried in their order; of `forced` (NULL: none) alone, where it is given. False: no memory; so everywhere here. */
bool stack_text_init(struct stack_text *text, struct stack_session *session, struct stack_output *output, bool in_place,
                     const struct stack_dialect *const *dialects, size_t dialect_count, const char *forced);
void stack_text_deinit(struct stack_text *text);
/* A line with its newline, or a part of a line that is too long. Lines may wait: stack_text_step() reads them, and comes first. */
bool stack_text_line(struct stack_text *text, struct csn_str line, bool is_part);
/* Whether lines are there for stack_text_step(). */
bool stack_text_has_step(const struct stack_text *text);
/* Reads one of the lines that waited. */
bool stack_text_step(struct stack_text *text);
/* No line comes: those that wait for later ones are not kept longer. */
void stack_text_over(struct stack_text *text);
/* No line comes for now: the same, and the stack that is held is answered. Lines that come may go on with it. */
bool stack_text_idle(struct stack_text *text);
/* Answers the stack that is held. */
bool stack_text_end(struct stack_text *text);

#endif
