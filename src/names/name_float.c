/* Floating literals: the bytes of the number, written as C's "%a" writes it, whatever the machine this runs on. */
#include "names/name_float.h"

#include <stdint.h>

/* A number of `digits` hexadecimal digits of fraction after the first one, times 2 ^ exponent. */
struct hex_float {
    bool negative;
    uint64_t first;
    uint64_t fraction[2]; /* the digits, from the top bits down */
    int exponent;
};

static unsigned digit_value(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* Bits [from, from + count) of the bytes, counted from the top; count <= 64. */
static uint64_t take_bits(struct csn_str hex, size_t from, size_t count) {
    uint64_t bits = 0;
    for (size_t i = from; i < from + count; i++) {
        uint64_t bit = i / 4 < hex.len ? digit_value(hex.ptr[i / 4]) >> (3 - i % 4) & 1 : 0;
        bits = bits << 1 | bit;
    }
    return bits;
}

static void put_signed(struct csni_name_text *text, int value) {
    csni_name_put_char(text, value < 0 ? '-' : '+');
    csni_name_put_number(text, (uint64_t)(value < 0 ? -value : value));
}

static void put_hex_float(struct csni_name_text *text, const struct hex_float *f) {
    static const char digits[] = "0123456789abcdef";
    uint64_t high = f->fraction[0], low = f->fraction[1];
    csni_name_put_text(text, f->negative ? "-0x" : "0x");
    csni_name_put_char(text, digits[f->first & 15]);
    if (high | low) csni_name_put_char(text, '.');
    while (high | low) {
        csni_name_put_char(text, digits[high >> 60]);
        high = high << 4 | low >> 60;
        low <<= 4;
    }
    csni_name_put_char(text, 'p');
    put_signed(text, f->exponent);
}

static void put_special(struct csni_name_text *text, bool negative, bool infinite) {
    if (negative) csni_name_put_char(text, '-');
    csni_name_put_text(text, infinite ? "inf" : "nan");
}

void csni_name_put_ieee(struct csni_name_text *text, struct csn_str hex, size_t exponent_bits, bool normalize) {
    size_t fraction_bits = 4 * hex.len - 1 - exponent_bits, top = fraction_bits < 64 ? fraction_bits : 64;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)take_bits(hex, 1, exponent_bits);
    struct hex_float f = { .negative = take_bits(hex, 0, 1) != 0, .first = 1, .exponent = exponent - bias };
    f.fraction[0] = take_bits(hex, 1 + exponent_bits, top) << (64 - top);
    if (fraction_bits > 64) f.fraction[1] = take_bits(hex, 65 + exponent_bits, fraction_bits - 64) << (128 - fraction_bits);
    if (exponent == 2 * bias + 1) {
        put_special(text, f.negative, !(f.fraction[0] | f.fraction[1]));
        return;
    }
    if (!exponent) {
        f.first = 0;
        f.exponent = f.fraction[0] | f.fraction[1] ? 1 - bias : 0;
    }
    /* A float is written as a double, in which its small numbers are not small. */
    while (normalize && !f.first && f.fraction[0]) {
        f.first = f.fraction[0] >> 63;
        f.fraction[0] <<= 1;
        f.exponent--;
    }
    put_hex_float(text, &f);
}

void csni_name_put_x87(struct csni_name_text *text, struct csn_str hex) {
    int exponent = (int)take_bits(hex, 1, 15);
    uint64_t mantissa = take_bits(hex, 16, 64);
    struct hex_float f = { .negative = take_bits(hex, 0, 1) != 0, .first = mantissa >> 60, .exponent = exponent - 16386 };
    f.fraction[0] = mantissa << 4;
    if (exponent == 0x7fff || (exponent && !(mantissa >> 63))) { /* without its top digit it is no number */
        put_special(text, f.negative, exponent == 0x7fff && !(mantissa << 1));
        return;
    }
    if (!exponent) f.exponent = mantissa ? -16385 : 0;
    put_hex_float(text, &f);
}
