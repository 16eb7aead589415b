/* Replacing numbers, and characters of strings, that jansson refuses, in one walk over the text. What is no JSON besides stays
 * none. */
#include "routes/json_body.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/json_token.h"
#include "ui/utf8.h"

enum { NUMBER_MAX = 64 }; /* characters; longer ones are looked at no closer */

static const char unknown[] = "?"; /* the text never becomes longer by it */

/* ---- numbers ---- */

static bool is_integer_kept(const char *number) {
    errno = 0;
    (void)strtoll(number, NULL, 10);
    return errno == 0;
}

static bool is_number_kept(const char *number, size_t size) {
    if (size >= NUMBER_MAX) return false;
    return strpbrk(number, ".eE") ? !isinf(strtod(number, NULL)) : is_integer_kept(number);
}

static bool is_64_bits(const char *number, uint64_t *out) {
    errno = 0;
    *out = strtoull(number, NULL, 10);
    return number[0] != '-' && errno == 0 && !strpbrk(number, ".eE");
}

static const char *put_number(struct text *out, const char *at, const char *end) {
    char number[NUMBER_MAX];
    uint64_t value;
    struct json_tokens tokens = { .at = at, .end = end };
    const bool is_number = json_token_number(&tokens);
    const size_t size = (size_t)(tokens.at - at), copied = size < NUMBER_MAX ? size : NUMBER_MAX - 1;
    memcpy(number, at, copied);
    number[copied] = 0;
    const bool is_kept = !is_number || is_number_kept(number, size);
    if (!is_kept) text_char(out, '"');
    if (!is_kept && size < NUMBER_MAX && is_64_bits(number, &value)) text_hex(out, value);
    else text_bytes(out, at, size);
    if (!is_kept) text_char(out, '"');
    return at + size;
}

/* ---- strings ---- */

/* \uABCD; -1: it is none. */
static int32_t escaped_unit(const char *at, const char *end) {
    char digits[5];
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    memcpy(digits, at + 2, 4);
    digits[4] = 0;
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (int32_t)strtol(digits, NULL, 16) : -1;
}

static const char *put_escape(struct text *out, const char *at, const char *end) {
    const int32_t unit = escaped_unit(at, end), next = unit < 0 ? -1 : escaped_unit(at + 6, end);
    const bool is_half = unit >= 0xd800 && unit < 0xe000, is_pair = is_half && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000;
    const size_t size = is_pair ? 12 : unit >= 0 ? 6 : end - at > 1 ? 2 : 1;
    if (unit == 0 || (is_half && !is_pair)) text_put(out, unknown);
    else text_bytes(out, at, size);
    return at + size;
}

static const char *put_string(struct text *out, const char *at, const char *end) {
    text_char(out, *at++);
    while (at < end && *at != '"') {
        const size_t size = utf8_size(at, (size_t)(end - at));
        if (*at == '\\') {
            at = put_escape(out, at, end);
        } else if (!size || (unsigned char)*at < ' ') {
            text_put(out, unknown);
            at++;
        } else {
            text_bytes(out, at, size);
            at += size;
        }
    }
    if (at < end) text_char(out, *at++);
    return at;
}

/* ---- texts ---- */

static void replace(struct text *out, const char *at, const char *end) {
    while (at < end) {
        if (*at == '"') at = put_string(out, at, end);
        else if (*at == '-' || (*at >= '0' && *at <= '9')) at = put_number(out, at, end);
        else text_char(out, *at++);
    }
}

void json_body_begin(struct json_body *body, struct text *text) {
    *body = (struct json_body){ .ptr = text_cstr(text), .size = text->failed ? 0 : text->size };
}

void json_body_end(struct json_body *body) { text_free(&body->replaced); }

static json_t *load_at(const struct json_body *body, json_error_t *error) {
    return json_loadb(body->ptr + body->at, body->size - body->at, JSON_DISABLE_EOF_CHECK, error);
}

/* What is left to read; where it is none even so, the error stays that of the text as it came. */
static json_t *load_replaced(struct json_body *body, json_error_t *error) {
    json_error_t other;
    body->is_replaced = true;
    replace(&body->replaced, body->ptr + body->at, body->ptr + body->size);
    const struct json_body rest = { .ptr = text_cstr(&body->replaced), .size = body->replaced.size };
    json_t *value = body->replaced.failed ? NULL : load_at(&rest, &other);
    if (!value) return NULL;
    body->ptr = rest.ptr;
    body->size = rest.size;
    body->at = 0;
    *error = other;
    return value;
}

json_t *json_body_next(struct json_body *body, json_error_t *error) {
    json_t *value = load_at(body, error);
    const bool is_blank = strspn(body->ptr + body->at, " \t\r\n") >= body->size - body->at;
    if (!value && !body->is_replaced && !is_blank) value = load_replaced(body, error);
    if (value) body->at += error->position > 0 ? (size_t)error->position : 1;
    return value;
}

json_t *json_body_load(struct text *text, json_error_t *error) {
    struct json_body body;
    json_body_begin(&body, text);
    json_t *value = json_body_next(&body, error);
    const size_t rest = value ? body.at + strspn(body.ptr + body.at, " \t\r\n") : 0;
    if (value && rest < body.size) {
        json_decref(value);
        value = NULL;
        snprintf(error->text, sizeof(error->text), "end of file expected");
        error->position = (int)rest;
    }
    json_body_end(&body);
    return value;
}
