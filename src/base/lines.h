/* Lines of a text, without a copy: the one line reader of text formats. */
#ifndef CSNI_LINES_H
#define CSNI_LINES_H

#include "base/core/span.h"

/* The line from `p` on, before `end`, without its end (LF, or CR LF); returns where the next one begins. */
static inline const char *csni_next_line(const char *p, const char *end, struct csn_str *out) {
    const char *lf = p < end ? (const char *)memchr(p, '\n', (size_t)(end - p)) : NULL;
    size_t len = (size_t)((lf ? lf : end) - p);
    if (len && p[len - 1] == '\r') len--;
    *out = (struct csn_str){ p, len };
    return lf ? lf + 1 : end;
}

struct csni_lines {
    struct csni_span rest;
    uint64_t number; /* of the last line, from 1 */
};

/* False at the end of the text. */
static inline bool csni_lines_next(struct csni_lines *lines, struct csn_str *out) {
    if (!lines->rest.size) return false;
    const char *p = (const char *)lines->rest.ptr;
    const char *next = csni_next_line(p, p + lines->rest.size, out);
    lines->rest = csni_span_from(lines->rest, (size_t)(next - p));
    lines->number++;
    return true;
}

static inline bool csni_is_blank(char c) { return c == ' ' || c == '\t'; }

/* The rest of a line that is being read. */
static inline void csni_skip_blanks(struct csn_str *rest) {
    while (rest->len && csni_is_blank(rest->ptr[0])) *rest = (struct csn_str){ rest->ptr + 1, rest->len - 1 };
}
/* False: the rest does not begin with `text`, and stays. */
static inline bool csni_skip_text(struct csn_str *rest, const char *text) {
    const size_t len = strlen(text);
    if (!csni_str_starts(*rest, text)) return false;
    *rest = (struct csn_str){ rest->ptr + len, rest->len - len };
    return true;
}

#endif
