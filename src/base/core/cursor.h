/* A bounds-checked reader of bytes in either byte order. A read beyond the end yields 0 and makes the cursor fail for
 * good: every later read yields 0 too, and `failed_at` keeps the offset of the first one. So a record is read straight
 * through and checked once at its end. */
#ifndef CSNI_CURSOR_H
#define CSNI_CURSOR_H

#include "base/core/endian.h"
#include "base/core/span.h"

struct csni_cursor {
    const uint8_t *begin, *p, *end;
    bool big, failed;
    uint64_t failed_at; /* offset from `begin` */
};

static inline struct csni_cursor csni_cursor_at(struct csni_span s, bool big) {
    if (!s.ptr) s = (struct csni_span){ (const uint8_t *)"", 0 }; /* adding 0 to NULL is undefined */
    return (struct csni_cursor){ s.ptr, s.ptr, s.ptr + s.size, big, false, 0 };
}

static inline size_t csni_cursor_left(const struct csni_cursor *c) { return (size_t)(c->end - c->p); }
static inline uint64_t csni_cursor_off(const struct csni_cursor *c) { return (uint64_t)(c->p - c->begin); }

static inline void csni_cursor_fail(struct csni_cursor *c) {
    if (!c->failed) c->failed_at = csni_cursor_off(c);
    c->failed = true;
    c->p = c->end;
}

static inline bool csni_cursor_need(struct csni_cursor *c, uint64_t size) {
    if (size <= csni_cursor_left(c)) return true;
    csni_cursor_fail(c);
    return false;
}

/* Moves to `off` from the beginning; fails beyond the end. */
static inline void csni_cursor_seek(struct csni_cursor *c, uint64_t off) {
    if (c->failed) return;
    if (off > (uint64_t)(c->end - c->begin)) csni_cursor_fail(c);
    else c->p = c->begin + off;
}

static inline void csni_cursor_skip(struct csni_cursor *c, uint64_t size) {
    if (csni_cursor_need(c, size)) c->p += size;
}

static inline struct csni_span csni_cursor_bytes(struct csni_cursor *c, uint64_t size) {
    if (!csni_cursor_need(c, size)) return (struct csni_span){ NULL, 0 };
    c->p += size;
    return (struct csni_span){ c->p - size, (size_t)size };
}

static inline uint8_t csni_cursor_u8(struct csni_cursor *c) { return csni_cursor_need(c, 1) ? *c->p++ : 0; }

static inline uint64_t csni_cursor_uint(struct csni_cursor *c, unsigned size) {
    if (!csni_cursor_need(c, size)) return 0;
    c->p += size;
    return csni_get_sized(c->p - size, size, c->big);
}
static inline uint16_t csni_cursor_u16(struct csni_cursor *c) { return (uint16_t)csni_cursor_uint(c, 2); }
static inline uint32_t csni_cursor_u32(struct csni_cursor *c) { return (uint32_t)csni_cursor_uint(c, 4); }
static inline uint64_t csni_cursor_u64(struct csni_cursor *c) { return csni_cursor_uint(c, 8); }

/* LEB128. Bits beyond 64 are lost, as every producer that pads expects; a number without an end fails. */
static inline uint64_t csni_cursor_uleb(struct csni_cursor *c) {
    uint64_t v = 0;
    const uint8_t *p = c->p;
    if (p < c->end && !(*p & 0x80)) return *c->p++; /* nearly always */
    for (unsigned shift = 0; p < c->end; shift += 7) {
        uint8_t b = *p++;
        if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) { c->p = p; return v; }
    }
    csni_cursor_fail(c);
    return 0;
}

static inline int64_t csni_cursor_sleb(struct csni_cursor *c) {
    uint64_t v = 0;
    const uint8_t *p = c->p;
    for (unsigned shift = 0; p < c->end;) {
        uint8_t b = *p++;
        if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (!(b & 0x80)) {
            if (shift < 64 && (b & 0x40)) v |= ~(uint64_t)0 << shift;
            c->p = p;
            return (int64_t)v;
        }
    }
    csni_cursor_fail(c);
    return 0;
}

/* A NUL-terminated string; fails where no NUL follows. */
static inline struct csn_str csni_cursor_cstr(struct csni_cursor *c) {
    const uint8_t *nul = csni_cursor_left(c) ? memchr(c->p, 0, csni_cursor_left(c)) : NULL;
    if (!nul) { csni_cursor_fail(c); return (struct csn_str){ "", 0 }; }
    struct csn_str s = { (const char *)c->p, (size_t)(nul - c->p) };
    c->p = nul + 1;
    return s;
}

#endif
