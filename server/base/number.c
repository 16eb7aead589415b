#include "base/number.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool has_prefix(const char *text) { return text[0] == '0' && (text[1] == 'x' || text[1] == 'X'); }

static bool read_digits(const char *text, unsigned base, uint64_t *out) {
    static const char digits[] = "0123456789abcdef";
    enum { DIGITS_MAX = 20 }; /* of 64 bits in decimal; hexadecimal ones are at most 16 */
    uint64_t value = 0;
    if (!*text || strlen(text) > (base == 16 ? 16 : DIGITS_MAX)) return false;
    for (; *text; text++) {
        const char *digit = memchr(digits, tolower((unsigned char)*text), base);
        if (!digit || value > (UINT64_MAX - (uint64_t)(digit - digits)) / base) return false;
        value = value * base + (uint64_t)(digit - digits);
    }
    *out = value;
    return true;
}

bool number_read(const char *text, uint64_t *out) {
    return has_prefix(text) ? read_digits(text + 2, 16, out) : read_digits(text, 10, out);
}

bool number_read_hex(const char *text, uint64_t *out) { return read_digits(text + (has_prefix(text) ? 2 : 0), 16, out); }
