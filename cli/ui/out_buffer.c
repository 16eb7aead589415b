/* Buffered output. Numbers are formatted by hand: a dump of a large index prints tens of millions of them. */
#include "ui/out_buffer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ui/cli_message.h"
#include "ui/utf8.h"

static const char hex_digits[] = "0123456789abcdef";

void out_init(struct out_buffer *out, int fd) {
    out->fd = fd;
    out->os_error = 0;
    out->used = 0;
    out->flushed = 0;
    out->sink = NULL;
}

void out_set_sink(struct out_buffer *out, bool (*sink)(void *context, const char *bytes, size_t size), void *context) {
    out->sink = sink;
    out->sink_context = context;
}

static void write_all(struct out_buffer *out, const char *bytes, size_t size) {
    if (out->sink) {
        if (size && !out->os_error && !out->sink(out->sink_context, bytes, size)) out->os_error = EIO;
        return;
    }
    while (size && !out->os_error) {
        ssize_t written = write(out->fd, bytes, size);
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            out->os_error = written < 0 ? errno : EIO;
        }
    }
}

bool out_flush(struct out_buffer *out) {
    write_all(out, out->bytes, out->used);
    out->flushed += out->used;
    out->used = 0;
    return !out->os_error;
}

bool out_finish_stdout(struct out_buffer *out) {
    if (out_flush(out) && close(out->fd) < 0) out->os_error = errno;
    if (out->os_error) cli_error(NULL, "standard output: %s", strerror(out->os_error));
    return !out->os_error;
}

void out_bytes_beyond(struct out_buffer *out, const void *bytes, size_t size) {
    out_flush(out);
    if (size > sizeof(out->bytes)) {
        write_all(out, bytes, size);
        out->flushed += size;
        return;
    }
    memcpy(out->bytes, bytes, size);
    out->used = size;
}

void out_decimal(struct out_buffer *out, uint64_t value) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
                                "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
                                "9293949596979899";
    char digits[20];
    size_t at = sizeof(digits);
    for (; value >= 100; value /= 100) memcpy(digits + (at -= 2), pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(digits + (at -= 2), pairs + 2 * value, 2);
    else
        digits[--at] = (char)('0' + value);
    out_bytes(out, digits + at, sizeof(digits) - at);
}

void out_hex(struct out_buffer *out, uint64_t value) {
    char *at = out_reserve(out, 18);
    unsigned shift = 0;
    while (shift < 60 && value >> shift >> 4) shift += 4;
    *at++ = '0';
    *at++ = 'x';
    for (;; shift -= 4) {
        *at++ = hex_digits[value >> shift & 15];
        if (!shift) break;
    }
    out_take(out, at);
}

void out_hex_bytes(struct out_buffer *out, const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        out_char(out, hex_digits[bytes[i] >> 4]);
        out_char(out, hex_digits[bytes[i] & 15]);
    }
}

void out_spaces(struct out_buffer *out, size_t count) {
    while (count--) out_char(out, ' ');
}

/* ASCII that is shown as it is, as nearly all names and paths are. A step of so many bytes becomes a few vector instructions. */
static bool is_plain(struct csn_str text) {
    enum { STEP = 16 };
    uint8_t bad = 0, block[STEP];
    size_t i = 0;
    for (; text.len - i >= STEP; i += STEP) {
        memcpy(block, text.ptr + i, STEP);
        uint8_t found = 0;
        for (size_t k = 0; k < STEP; k++) found |= (uint8_t)(block[k] - 0x20) >= 0x7f - 0x20;
        bad |= found;
    }
    for (; i < text.len; i++) bad |= (uint8_t)(text.ptr[i] - 0x20) >= 0x7f - 0x20;
    return !bad;
}

void out_safe(struct out_buffer *out, struct csn_str text) {
    if (is_plain(text)) {
        out_bytes(out, text.ptr, text.len);
        return;
    }
    for (const char *from = text.ptr, *end = text.ptr + text.len; from < end;) {
        char shown[16];
        const size_t size = safe_char(shown, &from, end);
        out_bytes(out, shown, size);
    }
}
