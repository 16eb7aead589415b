/* Reading lines: the buffer grows to the longest line, up to the bound. */
#define _GNU_SOURCE
#include "ui/line_input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 1 << 18 }; /* some 20,000 addresses, which are then looked up together */

bool line_input_init(struct line_input *input, int fd, size_t max) {
    *input = (struct line_input){ .fd = fd, .capacity = FIRST_CAPACITY, .max = max < FIRST_CAPACITY ? FIRST_CAPACITY : max };
    input->bytes = malloc(input->capacity);
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

struct csn_str line_input_text(const struct line_input *input, struct csn_str line) {
    return line_text(input->line == 1 ? without_byte_order_mark(line) : line);
}

struct csn_str without_byte_order_mark(struct csn_str line) {
    static const char mark[] = { (char)0xef, (char)0xbb, (char)0xbf };
    if (line.len < sizeof(mark) || memcmp(line.ptr, mark, sizeof(mark)) != 0) return line;
    return (struct csn_str){ line.ptr + sizeof(mark), line.len - sizeof(mark) };
}

const char utf16_advice[] = "UTF-16 is not read; convert it first: iconv -f UTF-16 -t UTF-8";

bool is_utf16(struct csn_str line) {
    if (line.len < 2) return false;
    if (memcmp(line.ptr, "\xff\xfe", 2) == 0 || memcmp(line.ptr, "\xfe\xff", 2) == 0) return true;
    const bool little = line.len > 3 && line.ptr[0] && !line.ptr[1] && line.ptr[2] && !line.ptr[3];
    return little || (line.len > 3 && !line.ptr[0] && line.ptr[1] && !line.ptr[2] && line.ptr[3]);
}

/* There is something to read, the end or a failure maybe. */
static bool is_ready(int fd, int timeout_ms) {
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    return poll(&wait, 1, timeout_ms) > 0;
}

/* Makes room for more bytes. False: the line is longer than the bound, or there is no memory. */
static bool grow_input(struct line_input *input) {
    if (input->start) {
        memmove(input->bytes, input->bytes + input->start, input->end - input->start);
        input->end -= input->start;
        input->start = 0;
    }
    if (input->end < input->capacity) return true;
    if (input->capacity >= input->max) return false;
    size_t capacity = input->capacity * 2 < input->max ? input->capacity * 2 : input->max;
    char *bytes = realloc(input->bytes, capacity);
    if (!bytes) {
        input->no_memory = true;
        return false;
    }
    input->bytes = bytes;
    input->capacity = capacity;
    return true;
}

/* False: nothing more came. */
static bool read_more(struct line_input *input) {
    if (!grow_input(input)) return false;
    ssize_t got;
    char *to = input->bytes + input->end;
    const size_t size = input->capacity - input->end;
    do got = input->read ? input->read(input->context, to, size) : read(input->fd, to, size);
    while (got < 0 && errno == EINTR);
    if (got < 0) input->os_error = errno;
    if (got <= 0) input->at_end = true;
    if (got > 0) input->end += (size_t)got;
    return got > 0;
}

/* The line has `size` bytes, of which the first `shown` are given. */
static enum line_result give_line(struct line_input *input, size_t size, size_t shown, enum line_result result,
                                  struct csn_str *line) {
    *line = (struct csn_str){ input->bytes + input->start, shown };
    input->start += size;
    input->kept = 0;
    input->line += result == LINE_WHOLE;
    return result;
}

enum line_result line_input_next(struct line_input *input, bool may_wait, struct csn_str *line) {
    size_t searched = input->kept;
    for (;;) {
        size_t left = input->end - input->start;
        const char *begin = input->bytes + input->start;
        const char *newline = left > searched ? memchr(begin + searched, '\n', left - searched) : NULL;
        size_t size = newline ? (size_t)(newline - begin) + 1 : left, shown = input->kept ? input->kept : size;
        if (newline) return give_line(input, size, shown, LINE_WHOLE, line);
        if (input->at_end || input->no_memory) {
            if (input->os_error || input->no_memory) return LINE_FAILED;
            return left ? give_line(input, size, shown, LINE_WHOLE, line) : LINE_END;
        }
        searched = left;
        if (left == input->max && !input->cuts_long) return give_line(input, size, size, LINE_PART, line);
        if (left == input->max || input->kept) { /* the beginning is kept, what follows thrown away as it is read */
            searched = input->kept = LINE_KEPT;
            input->end = input->start + LINE_KEPT;
        }
        if (!may_wait && !is_ready(input->fd, 0)) return LINE_PAUSED;
        read_more(input);
    }
}

bool line_input_wait(const struct line_input *input, int timeout_ms) { return is_ready(input->fd, timeout_ms); }

enum line_result line_input_next_flushed(struct line_input *input, struct out_buffer *out, struct csn_str *line) {
    enum line_result result = line_input_next(input, !out->used, line);
    if (result == LINE_PAUSED) result = out_flush(out) ? line_input_next(input, true, line) : LINE_FAILED;
    return result == LINE_END && out->os_error ? LINE_FAILED : result;
}

bool line_input_ahead(struct line_input *input, size_t bound, int timeout_ms, bool (*enough)(struct csn_str text),
                      struct csn_str *line, struct csn_str *text) {
    const size_t max = input->max, size = line->len;
    input->start = (size_t)(line->ptr - input->bytes);
    if (input->max < bound) input->max = bound;
    do *text = (struct csn_str){ input->bytes + input->start, input->end - input->start };
    while (!input->at_end && text->len < bound && !enough(*text) && (timeout_ms < 0 || is_ready(input->fd, timeout_ms)) &&
           read_more(input));
    /* What is in memory by now may be one line. */
    input->max = max < input->capacity ? input->capacity : max;
    *line = (struct csn_str){ input->bytes + input->start, size };
    *text = (struct csn_str){ input->bytes + input->start, input->end - input->start };
    input->start += size;
    return !input->os_error && !input->no_memory;
}

bool line_input_whole(struct line_input *input, struct csn_str first, struct csn_str *out) {
    input->start = (size_t)(first.ptr - input->bytes);
    while (!input->at_end && read_more(input)) continue;
    if (input->os_error || input->no_memory || !input->at_end) return false;
    *out = (struct csn_str){ input->bytes + input->start, input->end - input->start };
    input->start = input->end;
    return true;
}
