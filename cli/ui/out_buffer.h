/* Buffered output on a file descriptor. The first failure is kept and everything after it is ignored. */
#ifndef CALLSIGN_CLI_OUT_BUFFER_H
#define CALLSIGN_CLI_OUT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <callsign/base.h>

enum { OUT_BUFFER_SIZE = 1 << 16 };

struct out_buffer {
    int fd;
    int os_error; /* errno of the first failed write; 0: none */
    size_t used;
    uint64_t flushed; /* bytes that have left the buffer */
    bool (*sink)(void *context, const char *bytes, size_t size); /* gets them in place of fd; NULL: none */
    void *sink_context;
    char bytes[OUT_BUFFER_SIZE];
};

void out_init(struct out_buffer *out, int fd);
/* What leaves the buffer goes there; false: it failed. */
void out_set_sink(struct out_buffer *out, bool (*sink)(void *context, const char *bytes, size_t size), void *context);
/* False when this or an earlier write failed. */
bool out_flush(struct out_buffer *out);
/* Flushes standard output, closes it (some file systems report a full disk only then) and complains about a failure. */
bool out_finish_stdout(struct out_buffer *out);

/* What does not fit into the rest of the buffer. */
void out_bytes_beyond(struct out_buffer *out, const void *bytes, size_t size);
/* Inline, as a line of an answer is a dozen of these. */
static inline void out_bytes(struct out_buffer *out, const void *bytes, size_t size) {
    if (size > sizeof(out->bytes) - out->used) {
        out_bytes_beyond(out, bytes, size);
        return;
    }
    if (size) memcpy(out->bytes + out->used, bytes, size);
    out->used += size;
}
/* Room for `size` bytes, OUT_ROOM_MAX at most, to write at once; out_take() tells where they end. */
enum { OUT_ROOM_MAX = 1 << 12 };
static inline char *out_reserve(struct out_buffer *out, size_t size) {
    if (size > sizeof(out->bytes) - out->used) out_flush(out);
    return out->bytes + out->used;
}
static inline void out_take(struct out_buffer *out, const char *end) { out->used = (size_t)(end - out->bytes); }
static inline void out_char(struct out_buffer *out, char c) { out_bytes(out, &c, 1); }
static inline void out_text(struct out_buffer *out, const char *text) { out_bytes(out, text, strlen(text)); }
void out_decimal(struct out_buffer *out, uint64_t value);
void out_hex(struct out_buffer *out, uint64_t value); /* 0x1139 */
void out_hex_bytes(struct out_buffer *out, const uint8_t *bytes, size_t count); /* 00ff */
void out_spaces(struct out_buffer *out, size_t count);
/* Bytes of unknown origin, as ui/utf8.h shows them. */
void out_safe(struct out_buffer *out, struct csn_str text);

#endif
