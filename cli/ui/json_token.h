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
void json_token_blanks(struct json_tokens *t);

/* From its first byte on; false: it is none. `inside`: between the quotes. */
bool json_token_string(struct json_tokens *t, struct csn_str *inside);
bool json_token_digits(struct json_tokens *t); /* at least one */
bool json_token_number(struct json_tokens *t);
bool json_token_word(struct json_tokens *t);   /* true, false or null */

/* A character as UTF-8 in `out`, which has 4 bytes; how many it takes. */
size_t json_put_utf8(char *out, uint32_t c);

#endif
