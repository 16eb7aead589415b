/* The lines of text that a line of a log consists of: itself, or those in the strings of a record in JSON. */
#ifndef CALLSIGN_CLI_LOG_LINES_H
#define CALLSIGN_CLI_LOG_LINES_H

#include "stack/records/json_record.h"

/* The lines of a record follow each other without a gap: their `raw` together are the line of the log. */
struct log_line {
    struct csn_str raw;        /* what is passed on where nothing is filled in */
    struct csn_str text;       /* what is read, with its newline where it has one; not coded: the same */
    struct json_code code;     /* how the text is written in `raw`, but for the bytes before and after it */
    size_t before, after;
    bool continues;            /* a line of the same string stands before it */
    bool is_data;              /* JSON without a text that may have frames: nothing reads it */
    bool is_piece;             /* of a record that is spread over lines */
    struct text_source source; /* name 0: of the log itself, or of a record that has no text */
};

static inline struct log_line plain_log_line(struct csn_str line) { return (struct log_line){ .raw = line, .text = line }; }
/* Takes the first `size` bytes of its text off a line, with what stands before them; what stands after it goes with
 * the last ones. */
struct log_line log_line_take(struct log_line *line, size_t size);

/* The lines of one line of a log, one after the other: memory is that of the longest. */
struct log_lines {
    struct csn_str line;
    struct json_record record;
    struct log_line whole;     /* where no string is read */
    bool has_whole;
    size_t next;               /* text of the record */
    size_t done;               /* bytes of the line that have been given */
    bool inside;               /* a text is being read, of which a line has been given */
    struct json_reader reader;
    struct text_buffer text;   /* of the line that has been given */
    bool no_memory;
};

void log_lines_deinit(struct log_lines *lines);
/* Takes a line of a log apart. `wanted`: whose lines are read whatever is in them; name 0: nobody's. `bypass`: a
 * record without frames need not be told from text that looks like one. False: no memory. */
bool log_lines_begin(struct log_lines *lines, struct csn_str line, const struct text_source *wanted, bool bypass);
/* The next line; it lives until the next call. False: there is none, or no memory. */
bool log_lines_next(struct log_lines *lines, struct log_line *out);

#endif
