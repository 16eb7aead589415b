/* Reading lines: the buffer grows to the longest line, up to the bound. */
#define _GNU_SOURCE
#include "ui/line_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 16 };

bool line_input_init(struct line_input *input, int fd, size_t max) {
    *input = (struct line_input){ .fd = fd, .room = FIRST_ROOM, .max = max < FIRST_ROOM ? FIRST_ROOM : max };
    input->bytes = malloc(input->room);
    return input->bytes != NULL;
}

void line_input_deinit(struct line_input *input) {
    free(input->bytes);
    input->bytes = NULL;
}

struct csn_str line_text(struct csn_str line) {
    if (line.len && line.ptr[line.len - 1] == '\n') line.len--;
    if (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    return line;
}

/* Whether a read would return at once. */
static bool is_ready(int fd) {
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    return poll(&wait, 1, 0) > 0;
}

static bool make_room(struct line_input *input) {
    if (input->start) {
        memmove(input->bytes, input->bytes + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    if (input->end < input->room) return true;
    if (input->room >= input->max) return false;
    size_t room = input->room * 2 < input->max ? input->room * 2 : input->max;
    char *bytes = realloc(input->bytes, room);
    if (!bytes) {
        input->no_memory = true;
        return false;
    }
    input->bytes = bytes;
    input->room = room;
    return true;
}

/* False: nothing more came. */
static bool read_more(struct line_input *input, struct out_buffer *out) {
    if (!make_room(input)) return false;
    if (out && out->used && !is_ready(input->fd) && !out_flush(out)) return false;
    ssize_t got;
    do got = read(input->fd, input->bytes + input->end, input->room - input->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) input->os_error = errno;
    if (got <= 0) input->at_end = true;
    if (got > 0) input->end += (size_t)got;
    return got > 0;
}

static void take(struct line_input *input, size_t size, struct csn_str *line) {
    *line = (struct csn_str){ input->bytes + input->start, size };
    input->start += size;
}

enum line_result line_input_next(struct line_input *input, struct out_buffer *out, struct csn_str *line) {
    size_t searched = 0;
    for (;;) {
        size_t left = input->end - input->start;
        const char *newline = left > searched
                                  ? memchr(input->bytes + input->start + searched, '\n', left - searched) : NULL;
        if (newline) {
            input->line++;
            take(input, (size_t)(newline - (input->bytes + input->start)) + 1, line);
            return LINE_WHOLE;
        }
        searched = left;
        if (left == input->max) {
            take(input, left, line);
            return LINE_PART;
        }
        if (!input->at_end && read_more(input, out)) continue;
        if (input->os_error || input->no_memory || out->os_error) return LINE_FAILED;
        left = input->end - input->start;
        if (!left) return LINE_END;
        input->line++;
        take(input, left, line);
        return LINE_WHOLE;
    }
}

bool line_input_whole(struct line_input *input, struct csn_str first, struct csn_str *out) {
    input->start = (size_t)(first.ptr - input->bytes);
    struct out_buffer *none = NULL;
    while (!input->at_end && read_more(input, none)) continue;
    if (input->os_error || input->no_memory || !input->at_end) return false;
    *out = (struct csn_str){ input->bytes + input->start, input->end - input->start };
    input->start = input->end;
    return true;
}
