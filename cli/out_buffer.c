/* Buffered output. Numbers are formatted by hand: a dump of a large index prints tens of millions of them. */
#include "out_buffer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "complain.h"

static const char hex_digits[] = "0123456789abcdef";

void out_init(struct out_buffer *out, int fd) {
    out->fd = fd;
    out->os_error = 0;
    out->used = 0;
    out->flushed = 0;
}

static void write_all(struct out_buffer *out, const char *bytes, size_t size) {
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
    if (out->os_error) complain(NULL, "standard output: %s", strerror(out->os_error));
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
    enum { DIGITS = 20 };
    char *room = out_room(out, DIGITS), digits[DIGITS];
    size_t at = DIGITS;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = at; i < DIGITS; i++) *room++ = digits[i];
    out_take(out, room);
}

void out_hex(struct out_buffer *out, uint64_t value) {
    char *room = out_room(out, 18);
    unsigned shift = 0;
    while (shift < 60 && value >> shift >> 4) shift += 4;
    *room++ = '0';
    *room++ = 'x';
    for (;; shift -= 4) {
        *room++ = hex_digits[value >> shift & 15];
        if (!shift) break;
    }
    out_take(out, room);
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

/* Not 0 where one of eight bytes is below 0x20 or is 0x7f. */
static uint64_t control_bits(const char *bytes) {
    const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
    uint64_t v;
    memcpy(&v, bytes, sizeof(v));
    uint64_t delete = v ^ 0x7f * ones;
    return (((v - 0x20 * ones) & ~v) | ((delete - ones) & ~delete)) & highs;
}

static bool is_control(char c) { return (unsigned char)c < 0x20 || c == 0x7f; }

/* As nearly all names and paths are. */
static bool is_plain(struct csn_str text) {
    uint64_t bits = 0;
    if (text.len < 8) {
        for (size_t i = 0; i < text.len; i++) bits |= is_control(text.ptr[i]);
        return !bits;
    }
    for (size_t i = 0; i + 8 <= text.len; i += 8) bits |= control_bits(text.ptr + i);
    return !(bits | control_bits(text.ptr + text.len - 8));
}

void out_safe(struct out_buffer *out, struct csn_str text) {
    if (is_plain(text)) {
        out_bytes(out, text.ptr, text.len);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_control(text.ptr[i])) {
            const char escape[4] = { '\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15] };
            out_bytes(out, escape, sizeof(escape));
        } else {
            out_char(out, text.ptr[i]);
        }
    }
}
