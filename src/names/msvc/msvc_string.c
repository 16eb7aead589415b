/* Names of Microsoft's C++ compilers: string literals, of which the name holds the first 32 bytes. */
#include "names/msvc/msvc_parse.h"

enum { BYTES_MAX = 128 };

static bool is_nibble(char c) { return c >= 'A' && c <= 'P'; }

/* A byte as it is, or after '?': "$" and two letters, a digit for a mark, a letter with its top bit set. */
static bool read_byte(msvc *p, unsigned *out) {
    static const char marks[] = ",/\\:. \n\t'-";
    if (p->at == p->end) return false;
    unsigned c = (uint8_t)*p->at++;
    if (c == '?') {
        char next = csni_ms_peek(p, 0);
        if (next == '$') {
            if (!is_nibble(csni_ms_peek(p, 1)) || !is_nibble(csni_ms_peek(p, 2))) return false;
            c = (unsigned)(p->at[1] - 'A') << 4 | (unsigned)(p->at[2] - 'A');
            p->at += 2;
        } else if (csni_ms_digit(next)) {
            c = (uint8_t)marks[next - '0'];
        } else if ((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z')) {
            c = (uint8_t)next | 0x80;
        } else {
            return false;
        }
        p->at++;
    }
    *out = c;
    return true;
}

static void put_hex(struct csni_name_text *text, unsigned c) {
    static const char digits[] = "0123456789ABCDEF";
    int shift = 24;
    while (shift && !(c >> shift)) shift -= 8;
    csni_name_put_text(text, "\\x");
    for (; shift >= 0; shift -= 8) {
        csni_name_put_char(text, digits[c >> shift >> 4 & 15]);
        csni_name_put_char(text, digits[c >> shift & 15]);
    }
}

static void put_character(struct csni_name_text *text, unsigned c) {
    static const char plain[] = "\0'\"\\\a\b\f\n\r\t\v", letters[] = "0'\"\\abfnrtv";
    const char *found = c < 0x80 ? memchr(plain, (int)c, sizeof(plain) - 1) : NULL;
    if (found) {
        csni_name_put_char(text, '\\');
        csni_name_put_char(text, letters[found - plain]);
    } else if (c >= 0x20 && c < 0x7f) {
        csni_name_put_char(text, (char)c);
    } else {
        put_hex(text, c);
    }
}

/* The name does not hold the size of characters that are not wchar_t: bytes of 0 show it, at the end of a whole
 * string or by their number. */
static unsigned guess_character_size(const uint8_t *bytes, unsigned count, uint64_t size) {
    unsigned trailing = 0, zeros = 0;
    if (size % 2) return 1;
    while (trailing < count && !bytes[count - 1 - trailing]) trailing++;
    for (unsigned i = 0; i < count; i++) zeros += !bytes[i];
    if (size < 32) return trailing >= 4 && size % 4 == 0 ? 4 : trailing >= 2 ? 2 : 1;
    return zeros >= 2 * count / 3 && size % 4 == 0 ? 4 : zeros >= count / 3 ? 2 : 1;
}

static bool read_wide(msvc *p, node *literal, uint64_t size, struct csni_name_text *text) {
    literal->numbers[0] = 'L';
    literal->flag = size > 64;
    if (size % 2 && csni_ms_peek(p, 0) != '@') return false;
    for (; !csni_ms_take(p, '@'); size -= 2) {
        unsigned high, low;
        if (!size || !read_byte(p, &high) || !read_byte(p, &low)) return false;
        if (size != 2 || literal->flag) put_character(text, high << 8 | low);
    }
    return true;
}

static bool read_narrow(msvc *p, node *literal, uint64_t size, struct csni_name_text *text) {
    uint8_t bytes[BYTES_MAX];
    unsigned count = 0, byte;
    while (!csni_ms_take(p, '@')) {
        if (count == BYTES_MAX || !read_byte(p, &byte)) return false;
        bytes[count++] = (uint8_t)byte;
    }
    literal->flag = size > count;
    unsigned width = guess_character_size(bytes, count, size), characters = count / width;
    literal->numbers[0] = width == 1 ? 0 : width == 2 ? 'u' : 'U';
    for (unsigned i = 0; i < characters; i++) {
        unsigned c = 0;
        for (unsigned k = width; k-- > 0;) c = c << 8 | bytes[i * width + k];
        if (i + 1 < characters || literal->flag) put_character(text, c);
    }
    return true;
}

/* "@_", '0' or '1' for wchar_t, the size, a checksum, the first bytes. */
node *csni_ms_string_literal(msvc *p) {
    enum { TEXT_MAX = 16 * BYTES_MAX };
    node *literal = csni_ms_make(p, SYMBOL_STRING);
    struct csni_name_text text = { .out = csni_name_alloc(p->memory, TEXT_MAX), .cap = TEXT_MAX };
    if (!literal || !text.out || !csni_ms_take_text(p, "@_")) return NULL;
    bool wide = csni_ms_take(p, '1');
    uint64_t size;
    bool negative;
    if ((!wide && !csni_ms_take(p, '0')) || !csni_ms_number(p, &size, &negative) || negative || size < (wide ? 2 : 1)) return NULL;
    const char *end = memchr(p->at, '@', (size_t)(p->end - p->at));
    if (!end || end + 1 == p->end) return NULL;
    p->at = end + 1;
    if (!(wide ? read_wide(p, literal, size, &text) : read_narrow(p, literal, size, &text)) || text.len > TEXT_MAX) return NULL;
    literal->text = (struct csn_str){ text.out, text.len };
    return literal;
}
