/* A growing buffer of text, and JSON written into it. */
#define _GNU_SOURCE
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/utf8.h"

enum { FIRST_CAPACITY = 512 };

void text_free(struct text *text) {
    free(text->ptr);
    *text = (struct text){ 0 };
}

bool text_reserve(struct text *text, size_t more) {
    if (text->failed || more > SIZE_MAX / 4 - text->size) return false;
    if (text->size + more <= text->cap) return true;
    size_t cap = text->cap ? text->cap * 2 : FIRST_CAPACITY;
    if (cap < text->size + more) cap = text->size + more;
    char *grown = realloc(text->ptr, cap);
    text->failed = !grown;
    if (!grown) return false;
    text->ptr = grown;
    text->cap = cap;
    return true;
}

void text_bytes(struct text *text, const void *bytes, size_t size) {
    if (!size || !text_reserve(text, size)) return;
    memcpy(text->ptr + text->size, bytes, size);
    text->size += size;
}

void text_put(struct text *text, const char *s) { text_bytes(text, s, strlen(s)); }

void text_char(struct text *text, char c) { text_bytes(text, &c, 1); }

void text_format(struct text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need >= 0 && text_reserve(text, (size_t)need + 1)) {
        vsnprintf(text->ptr + text->size, (size_t)need + 1, format, again);
        text->size += (size_t)need;
    }
    va_end(again);
}

void text_hex(struct text *text, uint64_t value) {
    char digits[2 + 16];
    size_t at = sizeof(digits);
    do digits[--at] = "0123456789abcdef"[value & 15];
    while (value >>= 4);
    digits[--at] = 'x';
    digits[--at] = '0';
    text_bytes(text, digits + at, sizeof(digits) - at);
}

void text_decimal(struct text *text, uint64_t value) {
    char digits[20];
    size_t at = sizeof(digits);
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    text_bytes(text, digits + at, sizeof(digits) - at);
}

void text_utf8(struct text *text, const char *s, size_t size) {
    const unsigned char *at = (const unsigned char *)s, *end = at + size, *plain = at;
    while (at < end) {
        size_t length = utf8_size((const char *)at, (size_t)(end - at));
        if (length) {
            at += length;
            continue;
        }
        text_bytes(text, plain, (size_t)(at - plain));
        text_put(text, "\xef\xbf\xbd");
        plain = ++at;
    }
    text_bytes(text, plain, (size_t)(at - plain));
}

void text_safe(struct text *text, const char *s) {
    for (const char *end = s + strlen(s); s < end;) {
        char shown[16];
        const size_t size = safe_char(shown, &s, end);
        text_bytes(text, shown, size);
    }
}

static void put_escaped(struct text *text, unsigned char c) {
    switch (c) {
    case '"': text_put(text, "\\\""); return;
    case '\\': text_put(text, "\\\\"); return;
    case '\n': text_put(text, "\\n"); return;
    case '\r': text_put(text, "\\r"); return;
    case '\t': text_put(text, "\\t"); return;
    default: text_format(text, "\\u%04x", c);
    }
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

/* High bits of the bytes that are 0, and perhaps of some above these. */
static uint64_t zero_bytes(uint64_t word) { return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u; }

/* Past bytes that stand as they are in JSON: eight at a time, as a fifth of a symbolication request's time goes here. */
static const unsigned char *skip_plain(const unsigned char *at, const unsigned char *end) {
    const uint64_t ones = 0x0101010101010101u;
    for (uint64_t word; end - at >= 8; at += 8) {
        memcpy(&word, at, sizeof(word));
        uint64_t control = (word - 0x20 * ones) & ~word, high = word;
        uint64_t special = zero_bytes(word ^ '"' * ones) | zero_bytes(word ^ '\\' * ones) | zero_bytes(word ^ 0x7f * ones);
        if ((control | high | special) & 0x80 * ones) break;
    }
    while (at < end && is_plain(*at)) at++;
    return at;
}

void text_json(struct text *text, const char *s, size_t size) {
    const unsigned char *at = (const unsigned char *)s, *end = at + size, *plain = at;
    text_char(text, '"');
    while ((at = skip_plain(at, end)) < end) {
        size_t length = utf8_size((const char *)at, (size_t)(end - at));
        if (length > 1) {
            at += length;
            continue;
        }
        text_bytes(text, plain, (size_t)(at - plain));
        if (length == 0) text_put(text, "\xef\xbf\xbd");
        else put_escaped(text, *at);
        plain = ++at;
    }
    text_bytes(text, plain, (size_t)(at - plain));
    text_char(text, '"');
}

void text_json_cstr(struct text *text, const char *s) { text_json(text, s, strlen(s)); }

void text_json_member(struct text *text, const char *key, const char *value) {
    if (text->size && text->ptr[text->size - 1] != '{') text_char(text, ',');
    text_json_cstr(text, key);
    text_char(text, ':');
    text_json_cstr(text, value);
}

const char *text_cstr(struct text *text) {
    if (!text_reserve(text, 1)) return "";
    text->ptr[text->size] = 0;
    return text->ptr;
}

uint64_t text_hash(const void *bytes, size_t size) {
    uint64_t hash = 14695981039346656037u;
    for (const unsigned char *at = bytes; size--; at++) hash = (hash ^ *at) * 1099511628211u;
    return hash;
}
