/* LZ4 frame format 1.6.1 and LZ4 block format. */
#include "udf/lz4_frame.h"

#include <stdint.h>
#include <string.h>

struct lz4 {
    const uint8_t *at, *end;
    uint8_t *out, *out_start, *out_end;
};

static bool read_u32(struct lz4 *s, uint32_t *value) {
    if (s->end - s->at < 4) return false;
    *value = (uint32_t)s->at[0] | (uint32_t)s->at[1] << 8 | (uint32_t)s->at[2] << 16 | (uint32_t)s->at[3] << 24;
    s->at += 4;
    return true;
}

/* A length of 15 goes on in further bytes. */
static bool read_length(struct lz4 *s, const uint8_t *end, size_t *length) {
    uint8_t more = 255;
    if (*length != 15) return true;
    while (more == 255) {
        if (s->at == end || *length > SIZE_MAX / 2) return false;
        more = *s->at++;
        *length += more;
    }
    return true;
}

static bool copy_literals(struct lz4 *s, const uint8_t *end, size_t length) {
    if (length > (size_t)(end - s->at) || length > (size_t)(s->out_end - s->out)) return false;
    if (length) memcpy(s->out, s->at, length);
    s->at += length;
    s->out += length;
    return true;
}

/* The match may overlap what it writes. */
static bool copy_match(struct lz4 *s, size_t distance, size_t length) {
    if (!distance || distance > (size_t)(s->out - s->out_start) || length > (size_t)(s->out_end - s->out)) return false;
    for (size_t i = 0; i < length; i++, s->out++) *s->out = s->out[-(ptrdiff_t)distance];
    return true;
}

static bool decode_block(struct lz4 *s, const uint8_t *end) {
    enum { MATCH_MIN = 4 };
    while (s->at < end) {
        uint8_t token = *s->at++;
        size_t literals = token >> 4, match = token & 15;
        if (!read_length(s, end, &literals) || !copy_literals(s, end, literals)) return false;
        if (s->at == end) return true; /* the last sequence has literals alone */
        if (end - s->at < 2) return false;
        size_t distance = (size_t)s->at[0] | (size_t)s->at[1] << 8;
        s->at += 2;
        if (!read_length(s, end, &match) || !copy_match(s, distance, match + MATCH_MIN)) return false;
    }
    return true;
}

static bool decode_blocks(struct lz4 *s, bool has_checksums) {
    const uint32_t stored = 0x80000000;
    uint32_t size;
    while (read_u32(s, &size) && size) {
        size_t bytes = size & ~stored;
        if (bytes > (size_t)(s->end - s->at)) return false;
        if (size & stored ? !copy_literals(s, s->end, bytes) : !decode_block(s, s->at + bytes)) return false;
        if (has_checksums && s->end - s->at < 4) return false;
        if (has_checksums) s->at += 4;
    }
    return s->out == s->out_end;
}

bool lz4_frame_decode(struct csn_str frame, char *out, size_t size) {
    enum { MAGIC = 0x184D2204, BLOCK_CHECKSUM = 0x10, CONTENT_SIZE = 0x08, DICTIONARY = 0x01, VERSION = 0x40 };
    struct lz4 s = {
        .at = (const uint8_t *)frame.ptr, .out = (uint8_t *)out, .out_start = (uint8_t *)out, .out_end = (uint8_t *)out + size
    };
    uint32_t magic;
    s.end = s.at + frame.len;
    if (!read_u32(&s, &magic) || magic != MAGIC || s.end - s.at < 3) return false;
    uint8_t flags = s.at[0];
    size_t rest = 3 + (flags & CONTENT_SIZE ? 8u : 0u);
    if ((flags & 0xc0) != VERSION || flags & DICTIONARY || (size_t)(s.end - s.at) < rest) return false;
    s.at += rest;
    return decode_blocks(&s, flags & BLOCK_CHECKSUM);
}
