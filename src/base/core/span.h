/* Views of bytes that somebody else owns. */
#ifndef CSNI_SPAN_H
#define CSNI_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <callsign/base.h>

struct csni_span {
    const uint8_t *ptr;
    size_t size;
};

/* The `size` bytes from `off` on; false, and *out untouched, where they do not lie within `whole`. */
static inline bool csni_span_sub(struct csni_span whole, uint64_t off, uint64_t size, struct csni_span *out) {
    if (off > whole.size || size > whole.size - off) return false;
    out->ptr = whole.ptr ? whole.ptr + off : NULL;
    out->size = (size_t)size;
    return true;
}

/* The bytes from `off` to the end; empty where `off` is beyond it. */
static inline struct csni_span csni_span_from(struct csni_span whole, uint64_t off) {
    if (!whole.ptr || off >= whole.size) return (struct csni_span){ NULL, 0 };
    return (struct csni_span){ whole.ptr + off, whole.size - (size_t)off };
}

/* Whether `p` points at one of the bytes. */
static inline bool csni_span_holds(struct csni_span whole, const void *p) {
    return (uintptr_t)p >= (uintptr_t)whole.ptr && (uintptr_t)p - (uintptr_t)whole.ptr < whole.size;
}

static inline struct csn_str csni_str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

static inline bool csni_str_equal(struct csn_str a, struct csn_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool csni_str_is(struct csn_str a, const char *text) { return csni_str_equal(a, csni_str(text)); }

static inline bool csni_str_starts(struct csn_str a, const char *with) {
    size_t len = strlen(with);
    return a.len >= len && memcmp(a.ptr, with, len) == 0;
}

/* The NUL-terminated string at `off`. False where off is outside or no NUL follows; *out is then the rest, or empty. */
static inline bool csni_span_cstr(struct csni_span table, uint64_t off, struct csn_str *out) {
    struct csni_span rest = csni_span_from(table, off);
    if (!rest.size) { *out = (struct csn_str){ "", 0 }; return false; }
    const uint8_t *nul = memchr(rest.ptr, 0, rest.size);
    *out = (struct csn_str){ (const char *)rest.ptr, nul ? (size_t)(nul - rest.ptr) : rest.size };
    return nul != NULL;
}

#endif
