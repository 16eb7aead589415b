/* Reading an index whose bytes arrive in blocks. Clang's -fsanitize-coverage=trace-loads calls a function before each load of the
 * code that reads indexes. If the load touches a page that has not arrived, the import `missing` throws a JavaScript exception,
 * which leaves all of the C code at once; the caller fetches the page and runs the same call again. A lookup keeps no state and
 * allocates nothing, so it may be left at any load. This file is compiled without the option. */
#include "missing_bytes.h"

#include <stdint.h>

__attribute__((import_module("callsign"), import_name("missing"))) _Noreturn void csn_wasm_missing(uint32_t off, uint32_t size);

static struct {
    uint32_t start, size;
    const uint8_t *present; /* one byte for each page; 0: its bytes are missing */
} sparse;

void missing_bytes_watch(const void *bytes, uint32_t size, const uint8_t *present) {
    sparse.start = (uint32_t)(uintptr_t)bytes;
    sparse.size = size;
    sparse.present = present;
}

static void check(const void *p, uint32_t size) {
    uint32_t off = (uint32_t)(uintptr_t)p - sparse.start;
    if (off >= sparse.size || !size) return;
    if (size > sparse.size - off) size = sparse.size - off;
    for (uint32_t page = off / MISSING_PAGE; page <= (off + size - 1) / MISSING_PAGE; page++)
        if (!sparse.present[page]) csn_wasm_missing(off, size);
}

void __sanitizer_cov_load1(const void *p);
void __sanitizer_cov_load2(const void *p);
void __sanitizer_cov_load4(const void *p);
void __sanitizer_cov_load8(const void *p);
void __sanitizer_cov_load16(const void *p);
void __sanitizer_cov_load1(const void *p) { check(p, 1); }
void __sanitizer_cov_load2(const void *p) { check(p, 2); }
void __sanitizer_cov_load4(const void *p) { check(p, 4); }
void __sanitizer_cov_load8(const void *p) { check(p, 8); }
void __sanitizer_cov_load16(const void *p) { check(p, 16); }

/* The functions of libc that read an index's bytes, in place of libc's, which report no loads. */
void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    check(from, (uint32_t)size);
    uint8_t *out = to;
    const uint8_t *in = from;
    for (size_t i = 0; i < size; i++) out[i] = in[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    check(from, (uint32_t)size);
    uint8_t *out = to;
    const uint8_t *in = from;
    if (out <= in)
        for (size_t i = 0; i < size; i++) out[i] = in[i];
    else
        for (size_t i = size; i-- > 0;) out[i] = in[i];
    return to;
}

int memcmp(const void *a, const void *b, size_t size) {
    const uint8_t *left = a, *right = b;
    for (size_t i = 0; i < size; i++) {
        check(left + i, 1);
        check(right + i, 1);
        if (left[i] != right[i]) return left[i] - right[i];
    }
    return 0;
}

void *memchr(const void *bytes, int wanted, size_t size) {
    const uint8_t *p = bytes;
    for (size_t i = 0; i < size; i++) {
        check(p + i, 1);
        if (p[i] == (uint8_t)wanted) return (void *)(uintptr_t)(p + i);
    }
    return NULL;
}

size_t strlen(const char *text) {
    size_t len = 0;
    for (;; len++) {
        check(text + len, 1);
        if (!text[len]) return len;
    }
}
