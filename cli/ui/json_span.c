/* A scanner that checks a value once; what walks over its spans relies on that. */
#include "ui/json_span.h"

#include <string.h>

enum { DEPTH_MAX = 256, KEY_MAX = 64 };

struct scanner {
    const char *begin, *at, *end;
    struct json_fault *fault;
};

static bool fail(struct scanner *s, const char *text) {
    *s->fault = (struct json_fault){ text, (size_t)(s->at - s->begin) };
    return false;
}

static char peek(const struct scanner *s) { return s->at < s->end ? *s->at : 0; }

static void skip_blanks(struct scanner *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) s->at++;
}

/* ---- values ---- */

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static bool skip_escape(struct scanner *s) {
    s->at++;
    if (s->at == s->end || !*s->at || !strchr("\"\\/bfnrtu", *s->at)) return fail(s, "no escape that JSON has");
    if (*s->at++ != 'u') return true;
    for (int i = 0; i < 4; i++, s->at++)
        if (!is_hex(peek(s))) return fail(s, "\\u needs four hexadecimal digits");
    return true;
}

static bool skip_string(struct scanner *s) {
    s->at++;
    while (s->at < s->end && *s->at != '"') {
        if (*s->at != '\\') s->at++;
        else if (!skip_escape(s)) return false;
    }
    if (s->at == s->end) return fail(s, "the text ends in a string");
    s->at++;
    return true;
}

static bool skip_digits(struct scanner *s) {
    const char *from = s->at;
    while (peek(s) >= '0' && peek(s) <= '9') s->at++;
    return s->at > from || fail(s, "a digit is missing");
}

static bool skip_number(struct scanner *s) {
    if (peek(s) == '-') s->at++;
    if (!skip_digits(s)) return false;
    if (peek(s) == '.') {
        s->at++;
        if (!skip_digits(s)) return false;
    }
    if (peek(s) != 'e' && peek(s) != 'E') return true;
    s->at++;
    if (peek(s) == '+' || peek(s) == '-') s->at++;
    return skip_digits(s);
}

static bool skip_word(struct scanner *s) {
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(s->end - s->at) < size || memcmp(s->at, words[i], size) != 0) continue;
        s->at += size;
        return true;
    }
    return fail(s, s->at == s->end ? "the text ends" : "no value");
}

static bool skip_value(struct scanner *s, unsigned depth);

static bool skip_member(struct scanner *s, unsigned depth) {
    skip_blanks(s);
    if (peek(s) != '"') return fail(s, "no name of a member");
    if (!skip_string(s)) return false;
    skip_blanks(s);
    if (peek(s) != ':') return fail(s, "':' is missing");
    s->at++;
    return skip_value(s, depth);
}

static bool skip_items(struct scanner *s, unsigned depth) {
    bool is_object = *s->at++ == '{';
    char close = is_object ? '}' : ']';
    if (depth == DEPTH_MAX) return fail(s, "nested too deeply");
    skip_blanks(s);
    if (peek(s) == close) {
        s->at++;
        return true;
    }
    for (;;) {
        if (!(is_object ? skip_member(s, depth + 1) : skip_value(s, depth + 1))) return false;
        skip_blanks(s);
        if (peek(s) == close) break;
        if (peek(s) != ',') return fail(s, s->at == s->end ? "the text ends" : "',' is missing");
        s->at++;
    }
    s->at++;
    return true;
}

static bool skip_value(struct scanner *s, unsigned depth) {
    skip_blanks(s);
    switch (peek(s)) {
    case '{':
    case '[': return skip_items(s, depth);
    case '"': return skip_string(s);
    case '-':
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': return skip_number(s);
    default: return skip_word(s);
    }
}

bool json_span_value(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    struct scanner s = { text.ptr, text.ptr, text.ptr + text.len, fault };
    skip_blanks(&s);
    const char *from = s.at;
    if (!skip_value(&s, 0)) return false;
    *out = (struct csn_str){ from, (size_t)(s.at - from) };
    return true;
}

/* ---- members ---- */

struct json_items json_items_of(struct csn_str value) {
    if (value.len < 2 || (value.ptr[0] != '{' && value.ptr[0] != '[')) return (struct json_items){ { value.ptr, 0 }, false };
    return (struct json_items){ { value.ptr + 1, value.len - 2 }, value.ptr[0] == '{' };
}

/* Takes a value off the front, and what separates it from the next one. */
static bool take_value(struct json_items *items, char separator, struct csn_str *out) {
    struct json_fault fault;
    if (!json_span_value(items->rest, out, &fault)) return false;
    const char *end = items->rest.ptr + items->rest.len;
    struct scanner s = { out->ptr, out->ptr + out->len, end, &fault };
    skip_blanks(&s);
    if (peek(&s) == separator) s.at++;
    items->rest = (struct csn_str){ s.at, (size_t)(end - s.at) };
    return true;
}

bool json_items_next(struct json_items *items, struct csn_str *key, struct csn_str *value) {
    *key = (struct csn_str){ "", 0 };
    if (items->is_object && !take_value(items, ':', key)) return false;
    return take_value(items, ',', value);
}

bool json_span_find(struct csn_str object, const char *key, struct csn_str *out) {
    struct json_items items = json_items_of(object);
    struct csn_str name, value;
    bool found = false;
    while (items.is_object && json_items_next(&items, &name, &value)) {
        if (!json_span_equals(name, key)) continue;
        *out = value;
        found = true;
    }
    return found;
}

bool json_span_is_array(struct csn_str value) { return value.len && value.ptr[0] == '['; }

/* ---- strings and numbers ---- */

static uint32_t hex_value(const char *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static size_t put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t count = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = count - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(heads[count] | c);
    return count;
}

/* "\u00e9", or two of them for one character; a half alone is U+FFFD. Never longer than the escape. */
static size_t put_unicode(const char **at, const char *end, char *out) {
    uint32_t c = hex_value(*at + 2);
    *at += 6;
    bool high = c >= 0xd800 && c < 0xdc00;
    if (high && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = hex_value(*at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    return put_utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
}

static char escaped(char c) {
    switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
    }
}

size_t json_span_text(struct csn_str string, char *out) {
    if (string.len < 2 || string.ptr[0] != '"') return 0;
    const char *at = string.ptr + 1, *end = string.ptr + string.len - 1;
    char *to = out;
    while (at < end) {
        if (*at != '\\') {
            *to++ = *at++;
        } else if (at[1] == 'u') {
            to += put_unicode(&at, end, to);
        } else {
            *to++ = escaped(at[1]);
            at += 2;
        }
    }
    return (size_t)(to - out);
}

bool json_span_equals(struct csn_str string, const char *text) {
    enum { ESCAPED = 6 };
    char bytes[KEY_MAX * ESCAPED];
    if (string.len > sizeof(bytes)) return false;
    size_t size = json_span_text(string, bytes);
    return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

bool json_span_u64(struct csn_str value, uint64_t *out) {
    uint64_t number = 0;
    for (size_t i = 0; i < value.len; i++) {
        unsigned digit = (unsigned)(unsigned char)value.ptr[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    *out = number;
    return value.len > 0;
}
