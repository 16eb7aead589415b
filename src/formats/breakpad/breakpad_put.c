/* What Breakpad's records are made of. */
#include "formats/breakpad/breakpad_put.h"

#include "base/core/endian.h"
#include "base/lines.h"

static char *text_capacity(struct csni_buffer *t, size_t size) { return (char *)csni_buffer_reserve(t, size); }

/* Eight digits, the highest in the highest byte. */
static uint64_t hex_digits(uint32_t v) {
    uint64_t x = v;
    x = (x << 16 & 0xffff00000000) | (x & 0xffff);
    x = (x << 8 & 0xff000000ff0000) | (x & 0xff000000ff);
    x = (x << 4 & 0x0f000f000f000f00) | (x & 0x000f000f000f000f);
    uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    return x + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

void csni_breakpad_put_hex(struct csni_buffer *t, uint64_t v, char next) {
    enum { HALF = 8, MOST = 2 * HALF + 1 };
    char *p = text_capacity(t, MOST);
    if (!p) return;
    uint32_t high = (uint32_t)(v >> 32), first = high ? high : (uint32_t)v;
    unsigned digits = HALF - (unsigned)__builtin_clz(first | 1) / 4;
    csni_put64(p, hex_digits(first) << (8 * (HALF - digits)), true);
    if (high) {
        csni_put64(p + digits, hex_digits((uint32_t)v), true);
        digits += HALF;
    }
    p[digits] = next;
    t->size += digits + 1;
}

/* 1233 / 4096 is a little more than log10(2): the number of bits gives the digits, or one too many. */
static unsigned count_digits(uint32_t v) {
    static const uint32_t powers[] = { 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000 };
    unsigned bits = 32 - (unsigned)__builtin_clz(v | 1), most = bits * 1233 >> 12;
    return most + (v >= powers[most]);
}

/* Two digits at a time: divisions take most of the time of writing rows. */
void csni_breakpad_put_dec(struct csni_buffer *t, uint32_t v, char next) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
                                "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
                                "9899";
    enum { MOST = 11 };
    char *p = text_capacity(t, MOST);
    if (!p) return;
    unsigned digits = count_digits(v), i = digits;
    for (; i > 1; i -= 2, v /= 100) memcpy(p + i - 2, pairs + 2 * (v % 100), 2);
    if (i) p[0] = (char)('0' + v);
    p[digits] = next;
    t->size += digits + 1;
}

/* ---- names ---- */

/* False: it is no mangled name. */
static bool put_demangled(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    enum { USUAL = 512 };
    size_t cap = USUAL, len = 0;
    for (int tries = 0; tries < 2; tries++) {
        char *p = text_capacity(t, cap);
        if (!p) return true;
        csn_status status = demangle(name, p, cap, &len, NULL);
        if (status == CSN_OK) {
            t->size += len;
            return len > 0;
        }
        if (status == CSN_E_MEMORY) t->failed = true;
        if (status != CSN_E_LIMIT || len < cap) return t->failed;
        cap = len + 1;
    }
    return false;
}

static inline bool is_unsafe(char c) { return (c == '\n') | (c == '\r') | !c; }

static void put_safe_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    if (!demangle || !put_demangled(t, name, demangle)) csni_buffer_put(t, name.ptr, name.len);
    if (t->size == start) csni_buffer_put(t, "<name omitted>", strlen("<name omitted>"));
    if (t->failed) return;
    char *p = (char *)t->bytes + start, *end = (char *)t->bytes + t->size;
    for (char *c = p; c < end; c++) *c = is_unsafe(*c) ? '_' : *c; /* stored in any case: many at a time */
    if (csni_is_blank(*p)) *p = '_';
}

void csni_breakpad_put_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    put_safe_name(t, name, demangle);
    csni_buffer_put(t, "\n", 1);
}

void csni_breakpad_put_origin_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    put_safe_name(t, name, demangle);
    if (t->failed) return;
    /* Readers would take it for the file number of the old form. */
    char *p = (char *)t->bytes + start, *end = (char *)t->bytes + t->size;
    if (p < end && *p == '-') p++;
    char *digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p > digits && p < end && csni_is_blank(*p)) *p = '_';
    csni_buffer_put(t, "\n", 1);
}
