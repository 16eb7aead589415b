/* Stepping over values of JSON. */
#include "profile/json_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/hex.h"

enum { DEPTH_MAX = 512 };

csn_status csni_json_fail(const struct json_scan *scan, const uint8_t *at, const char *text) {
    return csni_fail(scan->err, at >= scan->all.ptr + scan->all.size ? CSN_E_TRUNCATED : CSN_E_FORMAT, "JSON",
                     (uint64_t)(at - scan->all.ptr), "%s, in a text of %zu bytes", text, scan->all.size);
}

static bool is_blank(uint8_t c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end) {
    while (p < end && is_blank(*p)) p++;
    return p;
}

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool ends_scalar(uint8_t c) { return c == ',' || c == '}' || c == ']' || c == ':' || is_blank(c); }

/* ---- the check of a whole text, once: all else steps over what is known to be JSON ---- */

/* What is checked of a text, and what is wrong at `p`. */
struct json_check {
    const uint8_t *p, *end;
    const char *flaw;
};

static bool is_flawed(struct json_check *c, const char *flaw) {
    c->flaw = c->p >= c->end ? "the text ends within a value" : flaw;
    return false;
}

static bool check_escape(struct json_check *c) {
    c->p++;
    if (c->p < c->end && *c->p && strchr("\"\\/bfnrt", *c->p)) return c->p++, true;
    if (c->p >= c->end || *c->p != 'u') return is_flawed(c, "no escape of JSON in a string");
    c->p++;
    for (int i = 0; i < 4; i++, c->p++)
        if (c->p >= c->end || csni_hex_digit((char)*c->p) >= 16) return is_flawed(c, "no four hexadecimal digits behind \\u");
    return true;
}

/* At a quote. */
static bool check_string(struct json_check *c) {
    for (c->p++; c->p < c->end && *c->p != '"';) {
        if (*c->p < ' ') return is_flawed(c, "a control character in a string");
        if (*c->p != '\\') c->p++;
        else if (!check_escape(c)) return false;
    }
    return c->p < c->end ? c->p++, true : is_flawed(c, NULL);
}

static bool check_digits(struct json_check *c) {
    if (c->p >= c->end || !is_digit(*c->p)) return is_flawed(c, "no digit where a number needs one");
    while (c->p < c->end && is_digit(*c->p)) c->p++;
    return true;
}

static bool check_number(struct json_check *c) {
    c->p += *c->p == '-';
    const bool is_zero = c->p < c->end && *c->p == '0';
    if (is_zero) c->p++;
    else if (!check_digits(c)) return false;
    if (c->p < c->end && *c->p == '.') {
        c->p++;
        if (!check_digits(c)) return false;
    }
    if (c->p < c->end && (*c->p == 'e' || *c->p == 'E')) {
        c->p++;
        if (c->p < c->end && (*c->p == '+' || *c->p == '-')) c->p++;
        if (!check_digits(c)) return false;
    }
    return true;
}

static bool check_scalar(struct json_check *c) {
    static const char *const words[] = { "null", "true", "false" };
    if (c->p >= c->end) return is_flawed(c, NULL);
    if (*c->p == '"') return check_string(c);
    if (*c->p == '-' || is_digit(*c->p)) {
        if (!check_number(c)) return false;
    } else {
        const char *word = NULL;
        for (size_t i = 0; i < 3; i++)
            if ((uint8_t)words[i][0] == *c->p) word = words[i];
        if (!word) return is_flawed(c, "no value where one is needed");
        for (; *word; word++, c->p++)
            if (c->p >= c->end || *c->p != (uint8_t)*word) return is_flawed(c, "a word that is none of null, true and false");
    }
    return c->p >= c->end || ends_scalar(*c->p) || is_flawed(c, "a value goes on behind its end");
}

static bool check_key(struct json_check *c) {
    c->p = skip_blanks(c->p, c->end);
    if (c->p >= c->end || *c->p != '"') return is_flawed(c, "a member of an object has no key");
    if (!check_string(c)) return false;
    c->p = skip_blanks(c->p, c->end);
    if (c->p >= c->end || *c->p != ':') return is_flawed(c, "no colon after a key");
    c->p++;
    return true;
}

/* The value at `p`, and all within it. False: it is damaged, and `flaw` and `p` tell how and where. */
static bool check_value(struct json_check *c) {
    uint8_t closers[DEPTH_MAX];
    size_t depth = 0;
    do {
        c->p = skip_blanks(c->p, c->end);
        if (c->p < c->end && (*c->p == '{' || *c->p == '[')) {
            if (depth == DEPTH_MAX) return is_flawed(c, "values within values are too deep");
            closers[depth++] = *c->p++ == '{' ? '}' : ']';
            c->p = skip_blanks(c->p, c->end);
            if (c->p >= c->end || *c->p != closers[depth - 1]) {
                if (closers[depth - 1] == '}' && !check_key(c)) return false;
                continue;
            }
            c->p++, depth--;
        } else if (!check_scalar(c)) {
            return false;
        }
        for (; depth; depth--, c->p++) {
            c->p = skip_blanks(c->p, c->end);
            if (c->p >= c->end || *c->p != closers[depth - 1]) break;
        }
        if (!depth) break;
        if (c->p >= c->end || *c->p != ',')
            return is_flawed(c, closers[depth - 1] == '}' ? "no comma between members" : "no comma between items");
        c->p++;
        if (closers[depth - 1] == '}' && !check_key(c)) return false;
    } while (depth);
    return true;
}

csn_status csni_json_value(const struct json_scan *scan, const uint8_t *from, struct csni_span *out) {
    struct json_check c = { .p = from, .end = scan->all.ptr + scan->all.size };
    if (c.end - from >= 3 && from[0] == 0xef && from[1] == 0xbb && from[2] == 0xbf) c.p += 3;
    c.p = from = skip_blanks(c.p, c.end);
    if (!check_value(&c)) return csni_json_fail(scan, c.p, c.flaw);
    *out = (struct csni_span){ from, (size_t)(c.p - from) };
    return CSN_OK;
}

/* ---- steps over checked text ---- */

/* Behind the string at `p`, a quote. */
static const uint8_t *skip_string(const uint8_t *p, const uint8_t *end) {
    for (p++; p < end && *p != '"'; p++) p += *p == '\\';
    return p < end ? p + 1 : end;
}

/* Behind the value at `p`. */
static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end) {
    size_t depth = 0;
    if (*p == '"') return skip_string(p, end);
    if (*p != '{' && *p != '[') {
        while (p < end && !ends_scalar(*p)) p++;
        return p;
    }
    do {
        const uint8_t c = *p;
        if (c == '"') {
            p = skip_string(p, end);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        p++;
    } while (depth && p < end);
    return p;
}

static bool key_equals(const uint8_t *quote, const uint8_t *after, const char *key) {
    const size_t len = strlen(key);
    return (size_t)(after - quote) == len + 2 && memcmp(quote + 1, key, len) == 0;
}

static void take_member(struct json_member *members, size_t count, const uint8_t *quote, const uint8_t *after,
                        struct csni_span value) {
    const bool is_null = value.ptr[0] == 'n';
    for (size_t i = 0; i < count; i++)
        if (key_equals(quote, after, members[i].key)) members[i].value = is_null ? (struct csni_span){ NULL, 0 } : value;
}

void csni_json_members(struct csni_span object, struct json_member *members, size_t count) {
    for (size_t i = 0; i < count; i++) members[i].value = (struct csni_span){ NULL, 0 };
    if (!object.size || object.ptr[0] != '{') return;
    const uint8_t *p = object.ptr, *end = p + object.size;
    while (*p != '}') {
        const uint8_t *key = skip_blanks(p + 1, end);
        if (key >= end || *key != '"') return; /* an object without members */
        const uint8_t *after_key = skip_string(key, end), *value = skip_blanks(skip_blanks(after_key, end) + 1, end);
        p = skip_value(value, end);
        take_member(members, count, key, after_key, (struct csni_span){ value, (size_t)(p - value) });
        p = skip_blanks(p, end);
    }
}

bool csni_json_item(struct csni_span *at, struct csni_span *out) {
    if (!at->size || (at->ptr[0] != '[' && at->ptr[0] != ',')) return false;
    const uint8_t *end = at->ptr + at->size, *p = skip_blanks(at->ptr + 1, end);
    if (p >= end || *p == ']') return false;
    const uint8_t *after = skip_value(p, end);
    *out = (struct csni_span){ p, (size_t)(after - p) };
    after = skip_blanks(after, end);
    *at = (struct csni_span){ after, (size_t)(end - after) };
    return true;
}

csn_status csni_json_array(const struct json_scan *scan, struct csni_span value) {
    return !value.size || value.ptr[0] == '[' ? CSN_OK : csni_json_fail(scan, value.ptr, "a value is no array");
}

/* ---- values ---- */

/* strtod() takes the decimal point of the program's locale: the number is given to it as an integer and an exponent. */
bool csni_json_number(struct csni_span value, double *out) {
    enum { LONGEST = 400 }; /* a double has at most 310 digits before the point */
    char text[LONGEST + 32], *end;
    size_t used = 0, i = 0, decimals = 0;
    long exponent = 0;
    bool after_point = false;
    if (!value.size || value.size >= LONGEST || !(value.ptr[0] == '-' || (value.ptr[0] >= '0' && value.ptr[0] <= '9')))
        return false;
    for (; i < value.size && value.ptr[i] != 'e' && value.ptr[i] != 'E'; i++) {
        const uint8_t c = value.ptr[i];
        if (c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if ((c < '0' || c > '9') && i) return false;
        text[used++] = (char)c;
        decimals += after_point;
    }
    if (i < value.size) {
        const size_t size = value.size - i - 1;
        if (!size || size > 7) return false;
        memcpy(text + used, value.ptr + i + 1, size);
        text[used + size] = 0;
        exponent = strtol(text + used, &end, 10);
        if (end != text + used + size) return false;
    }
    snprintf(text + used, sizeof text - used, "e%ld", exponent - (long)decimals);
    *out = strtod(text, &end);
    return !*end && isfinite(*out);
}

/* "E" and what follows it. */
static bool read_exponent(struct csni_span text, int64_t *out) {
    enum { LONGEST = 7 };
    const bool has_sign = text.size > 1 && (text.ptr[1] == '-' || text.ptr[1] == '+');
    size_t i = 1 + (size_t)has_sign;
    if (i >= text.size || text.size > LONGEST + 1) return false;
    for (*out = 0; i < text.size; i++) {
        if (!is_digit(text.ptr[i])) return false;
        *out = *out * 10 + (text.ptr[i] - '0');
    }
    if (has_sign && text.ptr[1] == '-') *out = -*out;
    return true;
}

bool csni_json_decimal(struct csni_span value, struct json_decimal *out) {
    *out = (struct json_decimal){ .negative = value.size && value.ptr[0] == '-' };
    if (!value.size) return false;
    const uint8_t *p = value.ptr + out->negative, *end = value.ptr + value.size, *first = NULL, *last = NULL, *point = NULL;
    int64_t exponent = 0;
    size_t before_point = 0, all = 0, first_at = 0, last_at = 0;
    if (p == end || !is_digit(*p)) return false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.' && !point) {
            point = p;
            continue;
        }
        if (!is_digit(*p)) return false;
        before_point += !point;
        if (*p != '0' && !first) first = p, first_at = all;
        if (*p != '0') last = p, last_at = all;
        all++;
    }
    if (p < end && !read_exponent((struct csni_span){ p, (size_t)(end - p) }, &exponent)) return false;
    if (!first) return true;
    out->digits = (struct csni_span){ first, (size_t)(last + 1 - first) };
    out->count = last_at + 1 - first_at;
    out->decimals = (int64_t)last_at + 1 - (int64_t)before_point - exponent;
    return true;
}

static bool push_digit(uint64_t *number, unsigned digit) {
    return !__builtin_mul_overflow(*number, 10, number) && !__builtin_add_overflow(*number, digit, number);
}

bool csni_json_decimal_size(const struct json_decimal *number, unsigned places, uint64_t *out, bool *is_whole) {
    const int64_t dropped = number->decimals - (int64_t)places;
    const int64_t kept = (int64_t)number->count - (dropped > 0 ? dropped : 0); /* below 0: zeros before the first digit */
    int64_t at = 0;
    *out = 0;
    *is_whole = !number->count || dropped <= 0;
    if (!number->count || kept < 0) return true;
    for (size_t i = 0; i < number->digits.size && at <= kept; i++) {
        if (number->digits.ptr[i] == '.') continue;
        const unsigned digit = (unsigned)(number->digits.ptr[i] - '0');
        if (at++ < kept) {
            if (!push_digit(out, digit)) return false;
        } else if (digit >= 5 && __builtin_add_overflow(*out, 1, out)) return false;
    }
    for (int64_t i = dropped; i < 0; i++)
        if (!push_digit(out, 0)) return false;
    return true;
}

bool csni_json_decimal_value(const struct json_decimal *number, unsigned places, int64_t *out) {
    uint64_t size;
    bool is_whole;
    if (!csni_json_decimal_size(number, places, &size, &is_whole)) return false;
    if (size > (uint64_t)INT64_MAX + number->negative) return false;
    *out = (int64_t)(number->negative ? 0 - size : size);
    return true;
}

bool csni_json_integer(struct csni_span value, int64_t *out) {
    enum { SAFE_DIGITS = 18 };   /* of 64 bits */
    struct json_decimal number;
    size_t i = 0;
    if (value.size <= SAFE_DIGITS)
        for (*out = 0; i < value.size && is_digit(value.ptr[i]); i++) *out = *out * 10 + (value.ptr[i] - '0');
    if (i && i == value.size) return true;
    return csni_json_decimal(value, &number) && (!number.count || number.decimals <= 0) && csni_json_decimal_value(&number, 0, out);
}

static void put_utf8(struct csni_buffer *out, uint32_t c) {
    uint8_t bytes[4];
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; c >>= 6) bytes[i] = (uint8_t)(0x80 | (c & 0x3f));
    static const uint8_t heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    bytes[0] = (uint8_t)(heads[size] | c);
    csni_buffer_put(out, bytes, size);
}

static bool read_unit(const uint8_t *p, const uint8_t *end, uint32_t *out) {
    *out = 0;
    if (end - p < 4) return false;
    for (int i = 0; i < 4; i++) {
        const unsigned digit = csni_hex_digit((char)p[i]);
        if (digit >= 16) return false;
        *out = *out << 4 | digit;
    }
    return true;
}

/* Behind the escape whose backslash is at `p`. */
static const uint8_t *put_escape(struct csni_buffer *out, const uint8_t *p, const uint8_t *end) {
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    uint32_t unit, low;
    if (p + 1 >= end) return end;
    if (p[1] == 'u' && read_unit(p + 2, end, &unit)) {
        p += 6;
        if (unit >= 0xd800 && unit < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
            read_unit(p + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            p += 6;
        }
        put_utf8(out, unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit);
        return p;
    }
    const char *found = strchr(from, p[1]);
    const char c = found && *found ? to[found - from] : (char)p[1];
    csni_buffer_put(out, &c, 1);
    return p + 2;
}

csn_status csni_json_string(const struct json_scan *scan, struct csni_span value, struct csni_buffer *out) {
    if (value.size < 2 || value.ptr[0] != '"') return CSN_NONE;
    const uint8_t *p = value.ptr + 1, *end = value.ptr + value.size - 1;
    while (p < end) {
        const uint8_t *escape = memchr(p, '\\', (size_t)(end - p));
        const uint8_t *plain_end = escape ? escape : end;
        csni_buffer_put(out, p, (size_t)(plain_end - p));
        p = escape ? put_escape(out, escape, end) : end;
    }
    return out->failed ? csni_fail_memory(scan->err, out->size) : CSN_OK;
}

csn_status csni_json_column(const struct json_scan *scan, struct csni_span array, int64_t missing, struct json_column *out) {
    enum { SHOWN = 32 };
    struct csni_span at = array, item;
    out->items.alloc = scan->alloc;
    out->items.count = 0;
    CSNI_TRY(csni_json_array(scan, array));
    while (csni_json_item(&at, &item)) {
        int64_t value = missing;
        if (item.ptr[0] != 'n' && !csni_json_integer(item, &value))
            return csni_fail(scan->err, CSN_E_FORMAT, "JSON", (uint64_t)(item.ptr - scan->all.ptr),
                             "a table has %.*s, need a whole number of 64 bits or null",
                             (int)(item.size < SHOWN ? item.size : SHOWN), (const char *)item.ptr);
        if (!csni_vec_push(&out->items, value)) return csni_fail_memory(scan->err, out->items.count * sizeof value);
    }
    return CSN_OK;
}
