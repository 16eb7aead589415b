/* Each function stops at the byte that is wrong. */
#include "ui/json_token.h"

#include <string.h>

#include "ui/text_bytes.h"

bool json_token_escape(struct json_tokens *t) {
    t->at++;
    if (t->at == t->end || !*t->at || !strchr("\"\\/bfnrtu", *t->at)) return json_token_fails(t, "no escape that JSON has");
    if (*t->at++ != 'u') return true;
    for (int i = 0; i < 4; i++, t->at++)
        if (!is_hex_digit(json_token_peek(t))) return json_token_fails(t, "\\u needs four hexadecimal digits");
    return true;
}

bool json_token_digits(struct json_tokens *t) {
    const char *from = t->at;
    while (json_token_peek(t) >= '0' && json_token_peek(t) <= '9') t->at++;
    return t->at > from || json_token_fails(t, "a digit is missing");
}

bool json_token_number(struct json_tokens *t) {
    if (json_token_peek(t) == '-') t->at++;
    if (!json_token_digits(t)) return false;
    if (json_token_peek(t) == '.') {
        t->at++;
        if (!json_token_digits(t)) return false;
    }
    if (json_token_peek(t) != 'e' && json_token_peek(t) != 'E') return true;
    t->at++;
    if (json_token_peek(t) == '+' || json_token_peek(t) == '-') t->at++;
    return json_token_digits(t);
}

bool json_token_word(struct json_tokens *t) {
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const size_t size = strlen(words[i]);
        if ((size_t)(t->end - t->at) < size || memcmp(t->at, words[i], size) != 0) continue;
        t->at += size;
        return true;
    }
    return json_token_fails(t, t->at == t->end ? "the text ends" : "no value");
}

size_t json_put_utf8(char *out, uint32_t c) {
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
