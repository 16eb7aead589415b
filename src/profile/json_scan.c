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

/* Behind the string at `p`, a quote. NULL: it does not end. */
static const uint8_t *skip_string(const uint8_t *p, const uint8_t *end) {
    for (p++; p < end; p++) {
        if (*p == '\\') p++;
        else if (*p == '"') return p + 1;
    }
    return NULL;
}

static bool ends_scalar(uint8_t c) { return c == ',' || c == '}' || c == ']' || c == ':' || is_blank(c); }

/* Behind the value at `p`, whose brackets must match. NULL: it is damaged, and *wrong where. */
static const uint8_t *skip_value(const uint8_t *p, const uint8_t *end, const uint8_t **wrong) {
    uint8_t closers[DEPTH_MAX];
    size_t depth = 0;
    do {
        p = skip_blanks(p, end);
        *wrong = p;
        if (p >= end) return NULL;
        if (*p == '{' || *p == '[') {
            if (depth == DEPTH_MAX) return NULL;
            closers[depth++] = *p++ == '{' ? '}' : ']';
        } else if (*p == '}' || *p == ']') {
            if (!depth || closers[--depth] != *p++) return NULL;
        } else if (*p == '"') {
            p = skip_string(p, end);
            if (!p) return *wrong = end, NULL;
        } else if (*p == ',' || *p == ':') {
            if (!depth) return NULL;
            p++;
        } else {
            while (p < end && !ends_scalar(*p)) p++;
        }
    } while (depth);
    return p;
}

csn_status csni_json_value(const struct json_scan *scan, struct csni_span *out) {
    const uint8_t *begin = scan->all.ptr, *end = begin + scan->all.size, *wrong;
    if (scan->all.size >= 3 && begin[0] == 0xef && begin[1] == 0xbb && begin[2] == 0xbf) begin += 3;
    begin = skip_blanks(begin, end);
    const uint8_t *after = skip_value(begin, end, &wrong);
    if (!after)
        return csni_json_fail(scan, wrong,
                              wrong >= end ? "the text ends within a value" : "brackets do not match, or are too deep");
    *out = (struct csni_span){ begin, (size_t)(after - begin) };
    return CSN_OK;
}

static bool key_equals(const uint8_t *quote, const uint8_t *after, const char *key) {
    const size_t len = strlen(key);
    return (size_t)(after - quote) == len + 2 && memcmp(quote + 1, key, len) == 0;
}

static void take_member(struct json_member *members, size_t count, const uint8_t *quote, const uint8_t *after,
                        struct csni_span value) {
    const bool is_null = value.size == 4 && memcmp(value.ptr, "null", 4) == 0;
    for (size_t i = 0; i < count; i++)
        if (key_equals(quote, after, members[i].key)) members[i].value = is_null ? (struct csni_span){ NULL, 0 } : value;
}

csn_status csni_json_members(const struct json_scan *scan, struct csni_span object, struct json_member *members, size_t count) {
    for (size_t i = 0; i < count; i++) members[i].value = (struct csni_span){ NULL, 0 };
    if (!object.size || object.ptr[0] != '{') return CSN_OK;
    const uint8_t *p = object.ptr + 1, *end = object.ptr + object.size, *wrong;
    for (;;) {
        p = skip_blanks(p, end);
        if (p < end && *p == '}') return CSN_OK;
        if (p >= end || *p != '"') return csni_json_fail(scan, p, "a member of an object has no key");
        const uint8_t *key = p, *after_key = skip_string(p, end);
        p = after_key ? skip_blanks(after_key, end) : end;
        if (p >= end || *p != ':') return csni_json_fail(scan, p, "no colon after a key");
        p = skip_blanks(p + 1, end);
        const uint8_t *value = p;
        p = skip_value(p, end, &wrong);
        if (!p || p == value) return csni_json_fail(scan, wrong, "no value after a key");
        take_member(members, count, key, after_key, (struct csni_span){ value, (size_t)(p - value) });
        p = skip_blanks(p, end);
        if (p < end && *p == ',') p++;
        else if (p >= end || *p != '}') return csni_json_fail(scan, p, "no comma between members");
    }
}

bool csni_json_item(struct csni_span *at, struct csni_span *out) {
    if (!at->size || (at->ptr[0] != '[' && at->ptr[0] != ',')) return false;
    const uint8_t *p = at->ptr, *end = p + at->size, *wrong;
    p = skip_blanks(p + 1, end);
    if (p >= end || *p == ']') return false;
    const uint8_t *after = skip_value(p, end, &wrong);
    if (!after || after == p) return false;
    *out = (struct csni_span){ p, (size_t)(after - p) };
    after = skip_blanks(after, end);
    *at = (struct csni_span){ after, (size_t)(end - after) };
    return true;
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

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

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
    struct json_decimal number;
    return csni_json_decimal(value, &number) && csni_json_decimal_value(&number, 0, out);
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
    struct csni_span at = array, item;
    out->items.alloc = scan->alloc;
    out->items.count = 0;
    while (csni_json_item(&at, &item)) {
        int64_t value;
        if (!csni_json_integer(item, &value)) value = missing;
        if (!csni_vec_push(&out->items, value)) return csni_fail_memory(scan->err, out->items.count * sizeof value);
    }
    return CSN_OK;
}
