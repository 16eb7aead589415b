/* Lines and fields of a Breakpad symbol file, without a copy. */
#ifndef CSNI_BREAKPAD_TEXT_H
#define CSNI_BREAKPAD_TEXT_H

#include "base/core/span.h"

/* The rest of a line that is being taken apart. */
struct csni_breakpad_line {
    const char *p, *end;
};

/* A line record. */
struct csni_breakpad_row {
    uint64_t addr, size;
    uint32_t line, file;
};

enum csni_breakpad_keyword {
    CSNI_BREAKPAD_OTHER, /* no keyword: a line record, or something unknown */
    CSNI_BREAKPAD_MODULE,
    CSNI_BREAKPAD_INFO,
    CSNI_BREAKPAD_FILE,
    CSNI_BREAKPAD_INLINE_ORIGIN,
    CSNI_BREAKPAD_INLINE,
    CSNI_BREAKPAD_FUNC,
    CSNI_BREAKPAD_PUBLIC,
    CSNI_BREAKPAD_STACK
};

/* Takes the line at `p`, which is before `end`, without its end (LF with any number of CR before it). Gives where the next one
 * begins. */
const char *csni_breakpad_next_line(const char *p, const char *end, struct csni_breakpad_line *out);

/* Takes the keyword and the blanks after it off the line. */
enum csni_breakpad_keyword csni_breakpad_keyword(struct csni_breakpad_line *line);

/* Each takes a field and the blanks after it off the line; false: it is none. */
bool csni_breakpad_hex(struct csni_breakpad_line *line, uint64_t *out);     /* 1 to 16 digits */
bool csni_breakpad_dec(struct csni_breakpad_line *line, uint32_t *out);     /* fits 32 bits */
struct csn_str csni_breakpad_field(struct csni_breakpad_line *line);        /* empty at the end of the line */
size_t csni_breakpad_count_fields(struct csni_breakpad_line line);
/* All that is left, which must be something. */
bool csni_breakpad_rest(struct csni_breakpad_line *line, struct csn_str *out);
/* A field that is "m" alone. */
bool csni_breakpad_multiple(struct csni_breakpad_line *line);

/* A whole line as a line record. */
bool csni_breakpad_row(struct csni_breakpad_line line, struct csni_breakpad_row *out);
/* The same, if a line record as writers write it stands at `p` with its LF; gives where the next line begins. NULL: take the
 * line by the calls above. */
const char *csni_breakpad_plain_row(const char *p, const char *end, struct csni_breakpad_row *out);

#endif
