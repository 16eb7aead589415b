/* Lines of a file or stream of any length, in memory that has a bound. */
#ifndef CALLSIGN_CLI_LINE_INPUT_H
#define CALLSIGN_CLI_LINE_INPUT_H

#include <sys/types.h>

#include "ui/out_buffer.h"

enum { LINE_KEPT = 64 };  /* bytes of a line that is cut: enough for a message */

struct line_input {
    int fd;
    /* Set after init: instead of read() of fd. Then lines are waited for. */
    ssize_t (*read)(void *context, void *bytes, size_t size);
    void *context;
    int os_error;
    bool at_end, no_memory;
    bool cuts_long;       /* set after init: of a line longer than the bound, give LINE_KEPT bytes and drop the rest */
    uint64_t line;        /* number of the last line given, from 1 */
    char *bytes;
    size_t start, end, capacity, max;
    size_t kept;          /* of a line that is being cut; 0: none is */
};

enum line_result {
    LINE_WHOLE,           /* a line, its newline included where it has one */
    LINE_PART,            /* the next part of a line longer than the bound; LINE_WHOLE is its last one */
    LINE_END,
    LINE_PAUSED,          /* reading would have to wait */
    LINE_FAILED           /* see os_error, no_memory; or `out` failed */
};

/* `max`: the longest line that is given whole. False: no memory. */
bool line_input_init(struct line_input *input, int fd, size_t max);
void line_input_deinit(struct line_input *input);

/* The next line; it lives until the next call. LINE_PAUSED only unless `may_wait`: flush what has been written then,
 * so that whoever writes one line and waits for its answer gets it. */
enum line_result line_input_next(struct line_input *input, bool may_wait, struct csn_str *line);
/* Waits for more input, or its end, for a time. False: nothing came. */
bool line_input_wait(const struct line_input *input, int timeout_ms);
/* The same, with `out` flushed whenever reading may have to wait; never LINE_PAUSED. */
enum line_result line_input_next_flushed(struct line_input *input, struct out_buffer *out, struct csn_str *line);

/* `first`, the line just given, and everything after it, in one piece; it lives until the next call. False: longer than
 * the bound, or as LINE_FAILED. */
bool line_input_whole(struct line_input *input, struct csn_str first, struct csn_str *out);

/* Reads ahead of the line just given, for what stands further down: until `enough` is true of the text from that
 * line on, its end, `bound` bytes, or until nothing comes for that time (below 0: any). The lines are given again as
 * usual. `line` may move in memory. False: as LINE_FAILED. */
bool line_input_ahead(struct line_input *input, size_t bound, int timeout_ms, bool (*enough)(struct csn_str text),
                      struct csn_str *line, struct csn_str *text);

/* The first line of a text without what Windows' programs write before it (U+FEFF). */
struct csn_str without_byte_order_mark(struct csn_str line);
/* Whether the first line of a text is UTF-16, which no reader of lines understands; and what to do then. */
bool is_utf16(struct csn_str line);
extern const char utf16_advice[];

/* A line without its newline and a carriage return. */
struct csn_str line_text(struct csn_str line);
/* The same of the line just given; of line 1 without a byte order mark. */
struct csn_str line_input_text(const struct line_input *input, struct csn_str line);

#endif
