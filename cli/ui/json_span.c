/* A scanner that checks a value once; what walks over its spans relies on that. */
#include "ui/json_span.h"

#include <string.h>

#include "ui/json_token.h"

enum { DEPTH_MAX = 2048, KEY_MAX = 64 };

/* ---- values ---- */

/* Which brackets are open, outermost first: a bit for each, set for an object. */
struct open_brackets {
    unsigned depth;
    unsigned char kinds[DEPTH_MAX / 8];
};

static bool in_object(const struct open_brackets *open) {
    const unsigned last = open->depth - 1;
    return open->kinds[last / 8] >> (last % 8) & 1;
}

static bool open_bracket(struct json_tokens *t, struct open_brackets *open) {
    const unsigned bit = 1u << (open->depth % 8);
    unsigned char *kinds = &open->kinds[open->depth / 8];
    if (open->depth == DEPTH_MAX) return json_token_fails(t, "nested too deeply");
    if (bit == 1) *kinds = 0;
    *kinds = (unsigned char)(*t->at == '{' ? *kinds | bit : *kinds & ~bit);
    open->depth++;
    t->at++;
    json_token_blanks(t);
    return true;
}

/* Whether the innermost bracket is closed here. */
static bool close_bracket(struct json_tokens *t, struct open_brackets *open) {
    if (json_token_peek(t) != (in_object(open) ? '}' : ']')) return false;
    open->depth--;
    t->at++;
    return true;
}

static bool skip_name(struct json_tokens *t) {
    struct csn_str name;
    json_token_blanks(t);
    if (json_token_peek(t) != '"') return json_token_fails(t, "no name of a member");
    if (!json_token_string(t, &name)) return false;
    json_token_blanks(t);
    if (json_token_peek(t) != ':') return json_token_fails(t, "':' is missing");
    t->at++;
    return true;
}

static bool skip_scalar(struct json_tokens *t) {
    struct csn_str inside;
    switch (json_token_peek(t)) {
    case '"': return json_token_string(t, &inside);
    case '-':
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9': return json_token_number(t);
    default: return json_token_word(t);
    }
}

/* Behind a value: closes what ends there. False: it is broken. At depth 0 all is read; otherwise another item comes. */
static bool skip_to_item(struct json_tokens *t, struct open_brackets *open) {
    while (open->depth) {
        json_token_blanks(t);
        if (close_bracket(t, open)) continue;
        if (json_token_peek(t) != ',') return json_token_fails(t, t->at == t->end ? "the text ends" : "',' is missing");
        t->at++;
        return true;
    }
    return true;
}

static bool skip_value(struct json_tokens *t) {
    struct open_brackets open;
    open.depth = 0;
    do {
        if (open.depth && in_object(&open) && !skip_name(t)) return false;
        json_token_blanks(t);
        const char first = json_token_peek(t);
        if (first != '{' && first != '[') {
            if (!skip_scalar(t)) return false;
        } else if (!open_bracket(t, &open)) {
            return false;
        } else if (!close_bracket(t, &open)) {
            continue;
        }
        if (!skip_to_item(t, &open)) return false;
    } while (open.depth);
    return true;
}

bool json_span_value(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    struct json_tokens t = { .at = text.ptr, .end = text.ptr + text.len };
    json_token_blanks(&t);
    const char *from = t.at;
    if (!skip_value(&t)) {
        *fault = (struct json_fault){ t.fault, (size_t)(t.at - text.ptr) };
        return false;
    }
    *out = (struct csn_str){ from, (size_t)(t.at - from) };
    return true;
}

bool json_span_only_value(struct csn_str text, struct csn_str *out, struct json_fault *fault) {
    if (!json_span_value(text, out, fault)) return false;
    struct json_tokens t = { .at = out->ptr + out->len, .end = text.ptr + text.len };
    json_token_blanks(&t);
    if (t.at == t.end) return true;
    *fault = (struct json_fault){ "more than one value", (size_t)(t.at - text.ptr) };
    return false;
}

size_t json_span_line(struct csn_str text, size_t at) {
    size_t line = 1;
    for (size_t i = 0; i < at; i++) line += text.ptr[i] == '\n';
    return line;
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
    struct json_tokens t = { .at = out->ptr + out->len, .end = end };
    json_token_blanks(&t);
    if (json_token_peek(&t) == separator) t.at++;
    items->rest = (struct csn_str){ t.at, (size_t)(end - t.at) };
    return true;
}

bool json_items_next(struct json_items *items, struct csn_str *key, struct csn_str *value) {
    *key = (struct csn_str){ "", 0 };
    if (items->is_object && !take_value(items, ':', key)) return false;
    return take_value(items, ',', value);
}

size_t json_span_count(struct csn_str value) {
    struct json_items items = json_items_of(value);
    struct csn_str key, item;
    size_t count = 0;
    while (json_items_next(&items, &key, &item)) count++;
    return count;
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

void json_span_members(struct csn_str object, const char *const *keys, size_t count, struct csn_str *out) {
    struct json_items items = json_items_of(object);
    struct csn_str name, value;
    for (size_t i = 0; i < count; i++) out[i] = (struct csn_str){ "", 0 };
    while (items.is_object && json_items_next(&items, &name, &value))
        for (size_t i = 0; i < count; i++)
            if (json_span_equals(name, keys[i])) out[i] = value;
}

bool json_span_is_array(struct csn_str value) { return value.len && value.ptr[0] == '['; }
bool json_span_is_object(struct csn_str value) { return value.len && value.ptr[0] == '{'; }
bool json_span_is_true(struct csn_str value) { return value.len && value.ptr[0] == 't'; }

/* ---- strings and numbers ---- */

static uint32_t hex_value(const char *digits) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        value = value * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
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
            return json_put_utf8(out, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
        }
    }
    return json_put_utf8(out, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
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
    const size_t len = strlen(text);
    if (string.len == len + 2 && string.ptr[0] == '"' && memcmp(string.ptr + 1, text, len) == 0) return true;
    if (string.len < len + 2 || !memchr(string.ptr, '\\', string.len)) return false;
    char bytes[KEY_MAX * ESCAPED];
    if (string.len > sizeof(bytes)) return false;
    size_t size = json_span_text(string, bytes);
    return size == len && memcmp(bytes, text, size) == 0;
}

bool json_span_u64(struct csn_str value, uint64_t *out) {
    uint64_t number = 0;
    if (value.len > 1 && value.ptr[0] == '0') return false; /* no number of JSON's */
    for (size_t i = 0; i < value.len; i++) {
        unsigned digit = (unsigned)(unsigned char)value.ptr[i] - '0';
        if (digit > 9 || number > (UINT64_MAX - digit) / 10) return false;
        number = number * 10 + digit;
    }
    *out = number;
    return value.len > 0;
}
