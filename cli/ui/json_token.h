/* The tokens of JSON text (RFC 8259), one after the other: what reads JSON where it stands moves over them and
 * decides what they mean. */
#ifndef CALLSIGN_CLI_JSON_TOKEN_H
#define CALLSIGN_CLI_JSON_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

struct json_tokens {
    const char *at, *end;
    const char *fault; /* what is wrong at `at`, once a function has returned false; static */
};

static inline bool json_token_fails(struct json_tokens *t, const char *fault) {
    t->fault = fault;
    return false;
}

/* The byte at hand; 0 at the end. */
static inline char json_token_peek(const struct json_tokens *t) { return t->at < t->end ? *t->at : 0; }

static inline void json_token_blanks(struct json_tokens *t) {
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r')) t->at++;
}

/* Each from its first byte on; false: it is none. */
bool json_token_escape(struct json_tokens *t); /* a backslash and what belongs to it, in a string */

/* `inside`: between the quotes. Inline, as most bytes of a document are in strings. */
static inline bool json_token_string(struct json_tokens *t, struct csn_str *inside) {
    const char *from = ++t->at;
    for (;;) {
        const char *at = t->at;
        while (at < t->end && *at != '"' && *at != '\\') at++;
        t->at = at;
        if (at == t->end) return json_token_fails(t, "the text ends in a string");
        if (*at == '"') break;
        if (!json_token_escape(t)) return false;
    }
    *inside = (struct csn_str){ from, (size_t)(t->at++ - from) };
    return true;
}

bool json_token_digits(struct json_tokens *t); /* at least one */
bool json_token_number(struct json_tokens *t);
bool json_token_word(struct json_tokens *t);   /* true, false or null */

/* A character as UTF-8 in `out`, which has 4 bytes; how many it takes. */
size_t json_put_utf8(char *out, uint32_t c);

#endif
