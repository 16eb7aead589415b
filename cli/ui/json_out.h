/* A small streaming JSON writer. Strings are bytes of unknown origin: control characters are escaped, and each byte that
 * is not part of valid UTF-8 becomes U+FFFD, so that the output is always valid JSON. */
#ifndef CALLSIGN_CLI_JSON_OUT_H
#define CALLSIGN_CLI_JSON_OUT_H

#include "ui/out_buffer.h"

struct json_out {
    struct out_buffer *out;
    bool comma; /* a value stands before, in the same array or object */
    bool html;  /* to stand in an HTML page: '<', '>' and '&' are escaped too, so that no string can end the script */
};

static inline struct json_out json_on(struct out_buffer *out) { return (struct json_out){ .out = out }; }

/* Inline: a line of an answer is a hundred of these, and the length of a key that is written out is known to the compiler. */
static inline void json_begin(struct json_out *json, char bracket) {
    char bytes[2] = { ',', bracket };
    out_bytes(json->out, json->comma ? bytes : bytes + 1, json->comma ? 2 : 1);
    json->comma = false;
}
static inline void json_end(struct json_out *json, char bracket) {
    out_char(json->out, bracket);
    json->comma = true;
}
static inline void json_begin_object(struct json_out *json) { json_begin(json, '{'); }
static inline void json_end_object(struct json_out *json) { json_end(json, '}'); }
static inline void json_begin_array(struct json_out *json) { json_begin(json, '['); }
static inline void json_end_array(struct json_out *json) { json_end(json, ']'); }
void json_end_line(struct json_out *json); /* after a whole value */

static inline void json_key(struct json_out *json, const char *key) {
    size_t size = strlen(key);
    char *at = out_reserve(json->out, size + 4);
    if (json->comma) *at++ = ',';
    *at++ = '"';
    memcpy(at, key, size);
    memcpy(at + size, "\":", 2);
    out_take(json->out, at + size + 2);
    json->comma = false;
}
void json_str(struct json_out *json, struct csn_str text);
void json_text(struct json_out *json, const char *text);
void json_number(struct json_out *json, uint64_t value);
void json_bool(struct json_out *json, bool value);
void json_none(struct json_out *json);
void json_hex(struct json_out *json, uint64_t value);   /* "0x1139" */
void json_hex_bytes(struct json_out *json, const uint8_t *bytes, size_t count); /* "00ff" */
void json_path(struct json_out *json, struct csn_str directory, struct csn_str base);

/* Key and value at once. */
void json_member_text(struct json_out *json, const char *key, const char *text);
void json_member_number(struct json_out *json, const char *key, uint64_t value);
void json_member_hex(struct json_out *json, const char *key, uint64_t value);

#endif
