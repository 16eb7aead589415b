/* D names: values of template parameters. */
#include "names/d/dlang_read.h"

static bool is_hex(char c) { return csni_d_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static unsigned hex_value(char c) { return (unsigned)(csni_d_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10); }

static void put_hex(dlang *r, uint64_t value, int width) {
    static const char digits[] = "0123456789abcdef";
    while (width < 16 && value >> (4 * width)) width++;
    while (width--) csni_name_put_char(r->out, digits[value >> (4 * width) & 15]);
}

static bool read_character(dlang *r, char type) {
    uint64_t value;
    if (!csni_d_number(r, &value)) return false;
    csni_d_put(r, "'");
    if (type == 'a' && value >= 0x20 && value < 0x7f) {
        csni_name_put_char(r->out, (char)value);
    } else {
        csni_d_put(r, type == 'a' ? "\\x" : type == 'u' ? "\\u" : "\\U");
        put_hex(r, value, type == 'a' ? 2 : type == 'u' ? 4 : 8);
    }
    csni_d_put(r, "'");
    return true;
}

static bool read_bool(dlang *r) {
    uint64_t value;
    if (!csni_d_number(r, &value)) return false;
    csni_d_put(r, value ? "true" : "false");
    return true;
}

static bool read_integer(dlang *r, char type) {
    if (type == 'a' || type == 'u' || type == 'w') return read_character(r, type);
    if (type == 'b') return read_bool(r);
    const char *begin = r->at;
    while (csni_d_digit(csni_d_peek(r, 0))) r->at++;
    if (r->at == begin) return false;
    csni_name_put(r->out, begin, (size_t)(r->at - begin));
    if (type == 'h' || type == 't' || type == 'k') csni_d_put(r, "u");
    if (type == 'm') csni_d_put(r, "u");
    if (type == 'l' || type == 'm') csni_d_put(r, "L");
    return true;
}

static void copy_while(dlang *r, bool (*fits)(char)) {
    const char *begin = r->at;
    while (r->at < r->end && fits(*r->at)) r->at++;
    csni_name_put(r->out, begin, (size_t)(r->at - begin));
}

static bool read_special_real(dlang *r) {
    static const char *const words[][2] = { { "NAN", "NaN" }, { "INF", "Inf" }, { "NINF", "-Inf" } };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (!csni_d_starts(r, words[i][0])) continue;
        r->at += strlen(words[i][0]);
        csni_d_put(r, words[i][1]);
        return true;
    }
    return false;
}

/* Hexadecimal digits, 'P', an exponent; 'N' is the sign of both. */
static bool read_real(dlang *r) {
    if (read_special_real(r)) return true;
    if (csni_d_take(r, 'N')) csni_d_put(r, "-");
    if (!is_hex(csni_d_peek(r, 0))) return false;
    csni_d_put(r, "0x");
    csni_name_put_char(r->out, *r->at++);
    csni_d_put(r, ".");
    copy_while(r, is_hex);
    if (!csni_d_take(r, 'P')) return false;
    csni_d_put(r, "p");
    if (csni_d_take(r, 'N')) csni_d_put(r, "-");
    copy_while(r, csni_d_digit);
    return true;
}

static bool read_complex(dlang *r) {
    if (!read_real(r)) return false;
    csni_d_put(r, "+");
    if (!csni_d_take(r, 'c') || !read_real(r)) return false;
    csni_d_put(r, "i");
    return true;
}

static void put_string_byte(dlang *r, unsigned value, const char digits[2]) {
    static const char plain[] = "\t\n\r\f\v", letters[] = "tnrfv";
    const char *found = value ? memchr(plain, (int)value, sizeof(plain) - 1) : NULL;
    if (found) {
        csni_d_put(r, "\\");
        csni_name_put_char(r->out, letters[found - plain]);
    } else if (value >= 0x20 && value < 0x7f) {
        csni_name_put_char(r->out, (char)value);
    } else {
        csni_d_put(r, "\\x");
        csni_name_put(r->out, digits, 2);
    }
}

/* A letter for the size of its characters, a number of bytes, '_', two digits for each. */
static bool read_string(dlang *r) {
    char type = *r->at++;
    uint64_t count;
    if (!csni_d_number(r, &count) || !csni_d_take(r, '_') || count > (uint64_t)(r->end - r->at) / 2) return false;
    csni_d_put(r, "\"");
    for (; count; count--, r->at += 2) {
        if (!is_hex(r->at[0]) || !is_hex(r->at[1])) return false;
        put_string_byte(r, hex_value(r->at[0]) << 4 | hex_value(r->at[1]), r->at);
    }
    csni_d_put(r, "\"");
    if (type != 'a') csni_name_put_char(r->out, type);
    return true;
}

/* A number of values, or of pairs of them. */
static bool read_values(dlang *r, const char *open, const char *close, bool pairs) {
    uint64_t count;
    if (!csni_d_number(r, &count)) return false;
    csni_d_put(r, open);
    for (; count; count--) {
        if (!csni_d_value(r, 0, r->out->len)) return false;
        if (pairs) {
            csni_d_put(r, ":");
            if (!csni_d_value(r, 0, r->out->len)) return false;
        }
        if (count > 1) csni_d_put(r, ", ");
    }
    csni_d_put(r, close);
    return true;
}

static bool read_function_literal(dlang *r) {
    return csni_d_starts(r, "_D") && csni_d_starts_symbol(r, r->at + 2) && csni_d_mangle(r);
}

static bool read_value(dlang *r, char type) {
    char c = csni_d_peek(r, 0);
    if (csni_d_digit(c)) return read_integer(r, type); /* early compilers of D 2 */
    if (c == 'a' || c == 'w' || c == 'd') return read_string(r);
    if (!c) return false;
    r->at++;
    switch (c) {
    case 'n': csni_d_put(r, "null"); return true;
    case 'N': csni_d_put(r, "-"); return read_integer(r, type);
    case 'i': return read_integer(r, type);
    case 'e': return read_real(r);
    case 'c': return read_complex(r);
    case 'A': return read_values(r, "[", "]", type == 'H');
    case 'S': return read_values(r, "(", ")", false);
    case 'f': return read_function_literal(r);
    default: return false;
    }
}

bool csni_d_value(dlang *r, char type, size_t name) {
    if (csni_d_peek(r, 0) != 'S') csni_d_back_to(r, name);
    return csni_d_leave(r, csni_d_enter(r) && read_value(r, type));
}
