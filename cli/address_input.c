/* Reading addresses. */
#include "address_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What is kept of a line that does not fit into the buffer: enough for a message. */
enum { LONG_LINE_KEPT = 64 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Of hexadecimal digits, plus 1. */
static const uint8_t digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool address_parse(struct csn_str text, uint64_t *out) {
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && is_blank(*at)) at++;
    while (end > at && is_blank(end[-1])) end--;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    if (at == end) return false;
    while (end - at > 16 && *at == '0') at++;
    if (end - at > 16) return false;
    uint64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = digit_values[(unsigned char)*at];
        if (!digit) return false;
        value = value << 4 | (digit - 1);
    }
    *out = value;
    return true;
}

bool named_address_parse(struct csn_str text, struct csn_str *out_name, uint64_t *out_offset) {
    while (text.len && is_blank(text.ptr[0])) text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    for (size_t i = text.len; i > 1; i--) {
        if (text.ptr[i - 1] != '+') continue;
        size_t len = i - 1;
        while (len && is_blank(text.ptr[len - 1])) len--;
        *out_name = (struct csn_str){ text.ptr, len };
        return len && address_parse((struct csn_str){ text.ptr + i, text.len - i }, out_offset);
    }
    return false;
}

void address_input_init(struct address_input *input, int fd) {
    input->fd = fd;
    input->at_end = false;
    input->os_error = 0;
    input->line = 0;
    input->start = input->end = 0;
}

/* Reads more behind what is there. */
static bool fill(struct address_input *input, struct out_buffer *out) {
    if (!out_flush(out)) return false;
    memmove(input->bytes, input->bytes + input->start, input->end - input->start);
    input->end -= input->start;
    input->start = 0;
    ssize_t got;
    do
        got = read(input->fd, input->bytes + input->end, sizeof(input->bytes) - input->end);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        input->os_error = errno;
        return false;
    }
    input->at_end = got == 0;
    input->end += (size_t)got;
    return true;
}

static enum input_result give(struct address_input *input, size_t size, size_t skipped, struct csn_str *line) {
    *line = (struct csn_str){ input->bytes + input->start, size };
    if (size && line->ptr[size - 1] == '\r') line->len--;
    input->start += size + skipped;
    input->line++;
    return INPUT_LINE;
}

/* The buffer is full and holds no newline: keeps the beginning, throws away the rest of the line. */
static enum input_result give_long(struct address_input *input, struct out_buffer *out, struct csn_str *line) {
    for (;;) {
        const char *newline = memchr(input->bytes + LONG_LINE_KEPT, '\n', input->end - LONG_LINE_KEPT);
        if (newline) {
            size_t rest = (size_t)(newline - input->bytes) - LONG_LINE_KEPT;
            return give(input, LONG_LINE_KEPT, rest + 1, line);
        }
        input->end = LONG_LINE_KEPT;
        if (input->at_end) return give(input, LONG_LINE_KEPT, 0, line);
        if (!fill(input, out)) return INPUT_FAILED;
    }
}

enum input_result address_input_next(struct address_input *input, struct out_buffer *out, struct csn_str *line) {
    for (;;) {
        size_t left = input->end - input->start;
        const char *newline = memchr(input->bytes + input->start, '\n', left);
        if (newline) return give(input, (size_t)(newline - input->bytes) - input->start, 1, line);
        if (input->at_end) return left ? give(input, left, 0, line) : INPUT_END;
        if (left == sizeof(input->bytes)) return give_long(input, out, line);
        if (!fill(input, out)) return INPUT_FAILED;
    }
}

bool address_input_has_line(const struct address_input *input) {
    return memchr(input->bytes + input->start, '\n', input->end - input->start) != NULL;
}
