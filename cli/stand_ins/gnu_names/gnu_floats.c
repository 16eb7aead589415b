/* Numbers as "0x1.8p+1f", and the bytes of them that the mangled name has. */
#include "stand_ins/gnu_names/gnu_floats.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/gnu_names/gnu_words.h"

struct number {
    bool is_negative;
    uint64_t mantissa;
    long exponent;           /* the value is mantissa * 2^exponent */
};

/* Reads "-0x1.8p+1". NULL: it is none. */
static const char *read_number(const char *p, struct number *n) {
    enum { POWER_MAX = 1 << 20 }; /* more than any format has */
    unsigned digits = 0, after = 0;
    bool has_point = false;
    *n = (struct number){ .is_negative = *p == '-' };
    p += n->is_negative;
    if (strncmp(p, "0x", 2) != 0) return NULL;
    for (p += 2; isxdigit((unsigned char)*p) || (*p == '.' && !has_point); p++) {
        if (*p == '.') {
            has_point = true;
            continue;
        }
        n->mantissa = n->mantissa << 4 | (uint64_t)(isdigit((unsigned char)*p) ? *p - '0' : *p - 'a' + 10);
        digits += n->mantissa != 0;
        after += has_point;
    }
    if (p[0] != 'p' || (p[1] != '+' && p[1] != '-') || !isdigit((unsigned char)p[2]) || digits > 16) return NULL;
    char *end;
    const long power = strtol(p + 1, &end, 10);
    if (power < -POWER_MAX || power > POWER_MAX) return NULL;
    n->exponent = power - 4 * (long)after;
    return end;
}

struct format {
    char suffix;
    const char *name;
    int exponent_bits, mantissa_bits; /* without the highest bit, where that is left out */
    bool is_highest_left_out;
};
static const struct format formats[] = {
    { 'f', "float", 8, 23, true }, { 'L', "long double", 15, 64, false }, { 0, "double", 11, 52, true } };

/* The two fields of a number. False: the format has no such number. */
static bool lay_out(const struct format *f, struct number n, uint64_t *exponent, uint64_t *mantissa) {
    const long bias = (1L << (f->exponent_bits - 1)) - 1, kept = f->mantissa_bits - !f->is_highest_left_out; /* after the highest bit */
    *exponent = *mantissa = 0;
    if (!n.mantissa) return true;
    while (!(n.mantissa >> 63)) {
        n.mantissa <<= 1;
        n.exponent--;
    }
    long power = n.exponent + 63, shift = 63 - kept;
    if (power > bias) return false;
    if (power < 1 - bias) shift += 1 - bias - power;
    else *exponent = (uint64_t)(power + bias);
    if (shift > 63 || (shift && n.mantissa << (64 - shift))) return false;
    *mantissa = n.mantissa >> shift;
    if (f->is_highest_left_out && *exponent) *mantissa &= ~(UINT64_C(1) << kept);
    return true;
}

size_t gnu_put_float(struct grown_text *out, const char *given, const char *at) {
    struct number n;
    uint64_t exponent, mantissa;
    if (at == given || !strchr("<( ", at[-1])) return 0;
    const char *end = read_number(at, &n);
    const struct format *f = formats;
    if (!end) return 0;
    while (f->suffix && f->suffix != *end) f++;
    end += f->suffix != 0;
    if (gnu_is_word_char(*end) || !lay_out(f, n, &exponent, &mantissa)) return 0;
    exponent |= (uint64_t)n.is_negative << f->exponent_bits;
    char *text;
    if (f->is_highest_left_out)
        text = formatted_text("(%s)[%0*" PRIx64 "]", f->name, (1 + f->exponent_bits + f->mantissa_bits) / 4,
                              exponent << f->mantissa_bits | mantissa);
    else text = formatted_text("(%s)[%04" PRIx64 "%016" PRIx64 "]", f->name, exponent, mantissa);
    grow_text(out, text, strlen(text));
    free(text);
    return (size_t)(end - at);
}
