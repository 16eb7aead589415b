/* Frames filled in within the lines that they came in: what the dialects' own ways to write a frame share. */
#ifndef CALLSIGN_CLI_STACK_FILL_H
#define CALLSIGN_CLI_STACK_FILL_H

#include "stack/lines/stack_dialect.h"
#include "stack/records/json_code.h"
#include "stack/session/stack_output.h"

/* One line to be written again; its frame has an answer. */
struct line_filler {
    struct stack_output *output;
    struct out_buffer *out;
    const struct csn_stack_answer *answer;
    struct csn_str text, ending;  /* the line, and what ends it */
    const struct line_frame *at;
    uint64_t added;               /* lines of inlined calls before it in this stack */
    bool kept;                    /* set by the dialect: the line stayed one line */
    bool ended;                   /* a line without an ending, the input's last one, was written: another one begins with a newline */
    struct json_fill *json;       /* the line stands in JSON; NULL: it does not */
};

/* Writes the line of frame `frame`, with its name where its dialect has it. A frame that nothing is known of, or whose name
 * cannot be chosen, keeps its line; without `session` any line does, but for its number. `line` is whole, its newline included.
 * *added counts the lines that inlined calls added to the stack: the numbers of the frames after them grow by it. */
void fill_line(struct stack_output *output, const struct stack_session *session, size_t frame,
               const struct stack_dialect *dialect, struct csn_str line, const struct line_frame *at, uint64_t *added);

/* A line within a string of JSON. */
struct json_line {
    const struct json_code *code;
    struct csn_str raw;  /* what stands for the line's text */
    bool continues;      /* a line of the same string stands before it */
};
/* The same for a line in JSON: what is new is written as its string is, and what stays keeps its bytes. Of a string
 * that ends without a newline, so does what is written. */
void fill_line_in_json(struct stack_output *output, const struct stack_session *session, size_t frame,
                       const struct stack_dialect *dialect, struct csn_str text, const struct json_line *line,
                       const struct line_frame *at, uint64_t *added);

/* The size of a line, which has no blanks at its end, without " (area at /src/shapes.h:6)" there, which fill_line_in_brackets()
 * wrote in an earlier run: dialects read the line as they did then, so that what follows means the same. A bracket without a file
 * may be anything. */
size_t unfilled_size(struct csn_str line);

/* ---- for dialects ---- */

/* The bytes [from, to) of the line as they were; what ends it. */
void fill_part(struct line_filler *f, size_t from, size_t to);
void fill_ending(struct line_filler *f);
/* Ends the k-th line that the frame's line becomes. What stands behind the frame's own parts, which end at fill_end, is no part of
 * its form, as a note of whoever read it: it stays, in the last one. */
void fill_rest_of_line(struct line_filler *f, uint32_t k);
/* The line up to `to`, with the number of the k-th line that it becomes. */
void fill_numbered(struct line_filler *f, uint32_t k, size_t to);
/* The whole line as it is, but for its number: it tells already what an answer would. It stays one line. */
void fill_numbered_line(struct line_filler *f);
/* The function of frame k of the answer; where nothing chose among several, all that remain. */
void fill_name(struct line_filler *f, uint32_t k);
/* Whether the line has `before` and the innermost of several calls at fill_at: an earlier run wrote it, and the lines of the
 * functions that the call was inlined into stand below. Whoever else knows the call has debug information, and its source. */
bool fill_is_expanded(const struct line_filler *f, const char *before);
/* Whether frame k has a file and line of its own: those of another function with the same code are none. */
bool fill_has_file(const struct line_filler *f, uint32_t k);
void fill_file(struct line_filler *f, uint32_t k, bool base_only);
/* The line as it is: it tells more than an answer would. */
void fill_nothing(struct line_filler *f);
/* The line, then " area at /src/shapes.h:6, inlined into main at /src/main.c:12", once: not where it stands there already. */
void fill_behind_line(struct line_filler *f);
/* The line, with " (area at /src/shapes.h:6, inlined into main at /src/main.c:12)" at fill_end, once. */
void fill_line_in_brackets(struct line_filler *f);

#endif
