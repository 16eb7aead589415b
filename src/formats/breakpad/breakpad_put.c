/* What Breakpad's records are made of. */
#include "formats/breakpad/breakpad_put.h"

#include "base/core/endian.h"
#include "base/lines.h"

static char *text_capacity(struct csni_buffer *t, size_t size) { return (char *)csni_buffer_reserve(t, size); }

/* The callers of hex_text() and dec_text() have reserved this much: eight bytes are stored for fewer digits too. */
enum { HALF = 8,
       HEX_MOST = 2 * HALF,
       DEC_MOST = 2 + HALF };

/* Eight digits, the highest in the highest byte. */
static inline uint64_t hex_digits(uint32_t v) {
    uint64_t x = v;
    x = (x << 16 & 0xffff00000000) | (x & 0xffff);
    x = (x << 8 & 0xff000000ff0000) | (x & 0xff000000ff);
    x = (x << 4 & 0x0f000f000f000f00) | (x & 0x000f000f000f000f);
    uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    return x + 0x3030303030303030 + letters * ('a' - '0' - 10);
}

/* Returns the end. */
static inline char *hex_text(char *p, uint64_t v) {
    uint32_t high = (uint32_t)(v >> 32), first = high ? high : (uint32_t)v;
    unsigned digits = HALF - (unsigned)__builtin_clz(first | 1) / 4;
    csni_put64(p, hex_digits(first) << (8 * (HALF - digits)), true);
    if (!high) return p + digits;
    csni_put64(p + digits, hex_digits((uint32_t)v), true);
    return p + digits + HALF;
}

/* Eight digits of a number below 10^8, the highest in the lowest byte: halves, pairs, single digits side by side. 10486 / 2^20
 * is 1/100 for numbers below 10,000, 103 / 2^10 is 1/10 for those below 100. */
static inline uint64_t dec_digits(uint32_t v) {
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t hundreds = (x * 10486 >> 20) & 0x7f0000007f;
    x = hundreds | (x - 100 * hundreds) << 16;
    uint64_t tens = (x * 103 >> 10) & 0x000f000f000f000f;
    return tens | (x - 10 * tens) << 8;
}

static inline char *dec_text(char *p, uint32_t v) {
    enum { BILLIONTH = 100000000 };
    const uint64_t ascii = 0x3030303030303030;
    if (v >= BILLIONTH) {
        if (v >= BILLIONTH * 10u) *p++ = (char)('0' + v / (BILLIONTH * 10u));
        *p++ = (char)('0' + v / BILLIONTH % 10);
        csni_put64(p, dec_digits(v % BILLIONTH) + ascii, false);
        return p + HALF;
    }
    uint64_t digits = dec_digits(v);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | 1ull << 56) / 8;
    csni_put64(p, (digits + ascii) >> (8 * zeros), false);
    return p + HALF - zeros;
}

void csni_breakpad_put_hex(struct csni_buffer *t, uint64_t v, char next) {
    char *p = text_capacity(t, HEX_MOST + 1);
    if (!p) return;
    char *end = hex_text(p, v);
    *end++ = next;
    t->size += (size_t)(end - p);
}

void csni_breakpad_put_dec(struct csni_buffer *t, uint32_t v, char next) {
    char *p = text_capacity(t, DEC_MOST + 1);
    if (!p) return;
    char *end = dec_text(p, v);
    *end++ = next;
    t->size += (size_t)(end - p);
}

/* ---- line records ---- */

static inline char *hex_byte_text(char *p, uint8_t v) {
    unsigned x = (unsigned)v >> 4 | (v & 0xfu) << 8, letters = (x + 0x0606) >> 4 & 0x0101;
    csni_put16(p, (uint16_t)(x + 0x3030 + letters * ('a' - '0' - 10)), false);
    return p + 2;
}

static inline char *line_addr_text(struct csni_breakpad_lines *l, char *p, uint64_t addr) {
    uint64_t upper = addr >> 8;
    if (!upper) return hex_text(p, addr);
    if (upper != l->upper) {
        l->upper = upper;
        l->upper_size = (uint8_t)(hex_text(l->upper_text, upper) - l->upper_text);
    }
    memcpy(p, l->upper_text, sizeof l->upper_text);
    return hex_byte_text(p + l->upper_size, (uint8_t)addr);
}

/* Most rows cover less than 256 bytes. */
static inline char *line_size_text(char *p, uint32_t size) {
    if (size >> 8) return hex_text(p, size);
    unsigned x = size >> 4 | (size & 0xf) << 8, letters = (x + 0x0606) >> 4 & 0x0101, two = size > 0xf;
    x += 0x3030 + letters * ('a' - '0' - 10);
    csni_put16(p, (uint16_t)(two ? x : x >> 8), false);
    return p + 1 + two;
}

/* The last two digits, after those that the line before has, too. */
static inline char *line_number_text(struct csni_breakpad_lines *l, char *p, uint32_t line) {
    uint32_t hundreds = line / 100, rest = line - 100 * hundreds, tens = rest * 103 >> 10;
    if (!hundreds) return dec_text(p, line);
    if (hundreds != l->hundreds) {
        l->hundreds = hundreds;
        l->hundreds_size = (uint8_t)(dec_text(l->hundreds_text, hundreds) - l->hundreds_text);
    }
    memcpy(p, l->hundreds_text, HALF);
    p += l->hundreds_size;
    csni_put16(p, (uint16_t)(0x3030 + tens + ((rest - 10 * tens) << 8)), false);
    return p + 2;
}

static inline char *line_file_text(struct csni_breakpad_lines *l, char *p, uint32_t file) {
    if (file != l->file || !l->file_size) {
        l->file = file;
        l->file_size = (uint8_t)(dec_text(l->file_text, file) - l->file_text);
    }
    memcpy(p, l->file_text, sizeof l->file_text);
    return p + l->file_size;
}

void csni_breakpad_put_line(struct csni_buffer *t, struct csni_breakpad_lines *lines, uint64_t addr, uint32_t size,
                            uint32_t line, uint32_t file) {
    char *p = text_capacity(t, 2 * (HEX_MOST + 1) + DEC_MOST + 1 + sizeof lines->file_text + 1), *end = p;
    if (!p) return;
    end = line_addr_text(lines, end, addr);
    *end++ = ' ';
    end = line_size_text(end, size);
    *end++ = ' ';
    end = line_number_text(lines, end, line);
    *end++ = ' ';
    end = line_file_text(lines, end, file);
    *end++ = '\n';
    t->size += (size_t)(end - p);
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
