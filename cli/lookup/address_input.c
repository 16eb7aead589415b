/* Reading addresses. */
#include "lookup/address_input.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* What is kept of a line that does not fit into the buffer: enough for a message. */
enum { LONG_LINE_KEPT = 64, MOST_DIGITS = 16 };

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
    while (end - at > MOST_DIGITS && *at == '0') at++;
    if (end - at > MOST_DIGITS) return false;
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
    input->start = input->end = input->kept = 0;
}

/* Reads more behind what is there. */
static bool fill(struct address_input *input) {
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

/* There is something to read, the end or a failure maybe. */
static bool is_ready(int fd) {
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    return poll(&asked, 1, 0) == 1;
}

static enum input_result give(struct address_input *input, size_t size, size_t skipped, struct csn_str *line) {
    *line = (struct csn_str){ input->bytes + input->start, size };
    if (size && line->ptr[size - 1] == '\r') line->len--;
    input->start += size + skipped;
    input->kept = 0;
    input->line++;
    return INPUT_LINE;
}

/* Of a line that does not fit, the beginning is kept, and what follows thrown away as it is read. */
static void drop_long(struct address_input *input) {
    size_t left = input->end - input->start;
    if (!input->kept && left < sizeof(input->bytes)) return;
    input->kept = LONG_LINE_KEPT;
    input->end = input->start + LONG_LINE_KEPT;
}

enum input_result address_input_next(struct address_input *input, bool may_wait, struct csn_str *line) {
    for (;;) {
        size_t left = input->end - input->start, kept = input->kept;
        const char *at = input->bytes + input->start, *newline = memchr(at + kept, '\n', left - kept);
        size_t size = newline ? (size_t)(newline - at) : left, shown = kept ? kept : size;
        if (newline) return give(input, shown, size - shown + 1, line);
        if (input->at_end) return left ? give(input, shown, size - shown, line) : INPUT_END;
        drop_long(input);
        if (!may_wait && !is_ready(input->fd)) return INPUT_PAUSED;
        if (!fill(input)) return INPUT_FAILED;
    }
}
