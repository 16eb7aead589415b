/* Reading ahead. */
#define _GNU_SOURCE
#include "stand_ins/base/ahead_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* False: there is no more. */
static bool read_more(struct ahead_input *in) {
    ssize_t got;
    memmove(in->bytes, in->bytes + in->begin, in->end - in->begin);
    in->end -= in->begin;
    in->begin = 0;
    do got = read(STDIN_FILENO, in->bytes + in->end, sizeof in->bytes - in->end);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    in->end += (size_t)got;
    in->has_new = true;
    return true;
}

size_t ahead_input_line(struct ahead_input *in, char *line, size_t size) {
    size_t taken = 0, wanted = size - 1;
    for (;;) {
        const size_t held = in->end - in->begin;
        const char *newline = memchr(in->bytes + in->begin, '\n', held < wanted ? held : wanted);
        if (newline) taken = (size_t)(newline + 1 - (in->bytes + in->begin));
        else if (held >= wanted) taken = wanted;
        if (taken) break;
        if (!read_more(in)) {
            taken = in->end - in->begin;
            break;
        }
    }
    memcpy(line, in->bytes + in->begin, taken);
    line[taken] = 0;
    in->begin += taken;
    return taken;
}

struct ahead_lines ahead_input_lines(struct ahead_input *in) {
    const char *begin = in->bytes + in->begin;
    const char *last = in->has_new ? memrchr(begin, '\n', in->end - in->begin) : NULL;
    in->has_new = false;
    return last ? (struct ahead_lines){ begin, last + 1 } : (struct ahead_lines){ NULL, NULL };
}

bool ahead_lines_next(struct ahead_lines *lines, char *line, size_t size) {
    while (lines->next != lines->end) {
        const char *begin = lines->next;
        const size_t length = (size_t)((const char *)memchr(begin, '\n', (size_t)(lines->end - begin)) - begin);
        lines->next = begin + length + 1;
        if (length >= size) continue;
        memcpy(line, begin, length);
        line[length] = 0;
        return true;
    }
    return false;
}
