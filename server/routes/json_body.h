/* The JSON of requests. What a request has beside what is read may hold anything: jansson refuses all of a text for one number
 * beyond its integers, a byte that is not UTF-8, or half of a surrogate pair. Then such values become others that it takes. */
#ifndef CALLSIGN_SERVER_JSON_BODY_H
#define CALLSIGN_SERVER_JSON_BODY_H

#include <jansson.h>

#include "base/text.h"

/* Values one behind the other. */
struct json_body {
    const char *ptr; /* the text, or what it was replaced by */
    size_t size, at; /* read up to there */
    struct text replaced;
    bool is_replaced;
};
void json_body_begin(struct json_body *body, struct text *text); /* `text` stays as it is meanwhile */
/* NULL: see `error`; that may be the end. A number beyond 63 bits is a text then: of 64 bits with 0x, as json_number_read() takes
 * it. */
json_t *json_body_next(struct json_body *body, json_error_t *error);
void json_body_end(struct json_body *body);

/* The only value of a body. NULL: see `error`. */
json_t *json_body_load(struct text *text, json_error_t *error);

#endif
