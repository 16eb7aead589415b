/* Texts of errors without stdio. */
#include "base/core/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct writer {
    char *out;
    size_t cap, len;
};

/* One conversion of a format: %[0][width][.precision][length]kind. */
struct conversion {
    bool zero_padded, is_long, is_long_long, is_size;
    size_t width, precision; /* SIZE_MAX: no precision */
    char kind;
};

static void put_char(struct writer *w, char c) {
    if (w->len + 1 < w->cap) w->out[w->len] = c;
    w->len++;
}

static void put_padding(struct writer *w, size_t len, size_t width, char c) {
    for (; len < width; len++) put_char(w, c);
}

static void put_string(struct writer *w, const struct conversion *c, const char *text) {
    if (!text) text = "(null)";
    const char *end = c->precision == SIZE_MAX ? NULL : memchr(text, 0, c->precision);
    size_t len = c->precision == SIZE_MAX ? strlen(text) : end ? (size_t)(end - text) : c->precision;
    put_padding(w, len, c->width, ' ');
    for (size_t i = 0; i < len; i++) put_char(w, text[i]);
}

static void put_number(struct writer *w, const struct conversion *c, uint64_t value, bool is_negative) {
    char digits[20];
    size_t count = 0;
    unsigned base = c->kind == 'x' ? 16 : 10;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    size_t len = count + is_negative;
    if (!c->zero_padded) put_padding(w, len, c->width, ' ');
    if (is_negative) put_char(w, '-');
    if (c->zero_padded) put_padding(w, len, c->width, '0');
    while (count) put_char(w, digits[--count]);
}

static size_t read_size(const char **format) {
    size_t value = 0;
    for (; **format >= '0' && **format <= '9'; ++*format) value = value * 10 + (size_t)(**format - '0');
    return value;
}

/* Of a width or a precision: written out, or an argument, of which a negative one counts as `negative`. */
#define READ_SIZE(format, args, negative, out) do {            \
        if (**(format) == '*') {                                \
            int given_ = va_arg(args, int);                     \
            (out) = given_ < 0 ? (negative) : (size_t)given_;   \
            ++*(format);                                        \
        } else {                                                \
            (out) = read_size(format);                          \
        }                                                       \
    } while (0)

static void read_length(const char **format, struct conversion *c) {
    for (;; ++*format) {
        if (**format == 'l') c->is_long_long = c->is_long, c->is_long = true;
        else if (**format == 'z' || **format == 't' || **format == 'j') c->is_size = true;
        else if (**format != 'h') return;
    }
}

#define TAKE_UNSIGNED(args, c) ((c).is_long_long ? va_arg(args, unsigned long long) : (c).is_long ? va_arg(args, unsigned long) \
                                : (c).is_size ? va_arg(args, size_t) : va_arg(args, unsigned))
#define TAKE_SIGNED(args, c) ((c).is_long_long ? va_arg(args, long long) : (c).is_long ? va_arg(args, long) \
                              : (c).is_size ? va_arg(args, ptrdiff_t) : va_arg(args, int))

size_t csni_format_list(char *out, size_t cap, const char *format, va_list args) {
    struct writer w = { out, cap, 0 };
    for (; *format; format++) {
        if (*format != '%') {
            put_char(&w, *format);
            continue;
        }
        format++;
        struct conversion c = { .precision = SIZE_MAX };
        if (*format == '0') c.zero_padded = true;
        READ_SIZE(&format, args, 0, c.width);
        if (*format == '.') {
            format++;
            READ_SIZE(&format, args, SIZE_MAX, c.precision);
        }
        read_length(&format, &c);
        c.kind = *format;
        if (!c.kind) break;
        if (c.kind == 's') {
            put_string(&w, &c, va_arg(args, const char *));
        } else if (c.kind == 'd' || c.kind == 'i') {
            long long value = TAKE_SIGNED(args, c);
            put_number(&w, &c, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
        } else if (c.kind == 'u' || c.kind == 'x') {
            put_number(&w, &c, TAKE_UNSIGNED(args, c), false);
        } else {
            put_char(&w, c.kind == 'c' ? (char)va_arg(args, int) : c.kind);
        }
    }
    if (cap) out[w.len < cap ? w.len : cap - 1] = 0;
    return w.len;
}

size_t csni_format(char *out, size_t cap, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t len = csni_format_list(out, cap, format, args);
    va_end(args);
    return len;
}
