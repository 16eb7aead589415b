/* Protocol buffers as they stand in bytes: fields in, fields out. */
#ifndef CSNI_PROTO_WIRE_H
#define CSNI_PROTO_WIRE_H

#include "base/buffer.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"

enum proto_type { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
    uint32_t number, type;
    uint64_t value;          /* of a number; the size of bytes */
    struct csni_span bytes;  /* of PROTO_BYTES */
};

/* The next field of a message. False: at its end, or the cursor has failed. */
static inline bool csni_proto_next(struct csni_cursor *c, struct proto_field *out) {
    if (c->p >= c->end || c->failed) return false;
    const uint64_t tag = csni_cursor_uleb(c);
    *out = (struct proto_field){ .number = (uint32_t)(tag >> 3), .type = tag & 7 };
    switch (out->type) {
    case PROTO_VARINT: out->value = csni_cursor_uleb(c); break;
    case PROTO_FIXED64: out->value = csni_cursor_u64(c); break;
    case PROTO_FIXED32: out->value = csni_cursor_u32(c); break;
    case PROTO_BYTES:
        out->value = csni_cursor_uleb(c);
        out->bytes = csni_cursor_bytes(c, out->value);
        break;
    default: csni_cursor_fail(c); break;
    }
    if (tag >> 3 == 0 || tag >> 3 >= 1u << 29) csni_cursor_fail(c);
    return !c->failed;
}

/* The numbers of a repeated field, packed or one by one: a cursor over them. */
static inline bool csni_proto_next_number(struct csni_cursor *packed, uint64_t *out) {
    if (packed->p >= packed->end) return false;
    *out = csni_cursor_uleb(packed);
    return !packed->failed;
}

/* ---- out ---- */

enum { PROTO_VARINT_MAX = 10 };

static inline uint8_t *csni_proto_varint_at(uint8_t *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline void csni_proto_put_varint(struct csni_buffer *b, uint64_t value) {
    uint8_t *at = csni_buffer_reserve(b, PROTO_VARINT_MAX);
    if (at) b->size += (size_t)(csni_proto_varint_at(at, value) - at);
}

/* A field that is 0 is left out, as proto3 does. */
static inline void csni_proto_put_number(struct csni_buffer *b, uint32_t number, uint64_t value) {
    if (!value) return;
    csni_proto_put_varint(b, (uint64_t)number << 3 | PROTO_VARINT);
    csni_proto_put_varint(b, value);
}

static inline void csni_proto_put_fixed64(struct csni_buffer *b, uint32_t number, uint64_t value) {
    uint8_t bytes[8];
    if (!value) return;
    csni_proto_put_varint(b, (uint64_t)number << 3 | PROTO_FIXED64);
    csni_put64(bytes, value, false);
    csni_buffer_put(b, bytes, sizeof bytes);
}

static inline void csni_proto_put_bytes(struct csni_buffer *b, uint32_t number, const void *bytes, size_t size) {
    csni_proto_put_varint(b, (uint64_t)number << 3 | PROTO_BYTES);
    csni_proto_put_varint(b, size);
    if (size) csni_buffer_put(b, bytes, size);
}

static inline void csni_proto_put_message(struct csni_buffer *b, uint32_t number, struct csni_buffer *message) {
    csni_proto_put_bytes(b, number, message->bytes, message->size);
    b->failed |= message->failed;
    message->size = 0;
}

#endif
