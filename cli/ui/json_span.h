/* JSON where it stands: values are spans of the text, so that what is not looked at stays as it is, byte for byte. Numbers of any
 * size and strings of any bytes pass. */
#ifndef CALLSIGN_CLI_JSON_SPAN_H
#define CALLSIGN_CLI_JSON_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

struct json_fault {
    const char *text; /* static */
    size_t at;        /* in the text */
};

/* The value at the beginning of `text`, blanks before it left out. Nothing is said of what follows it. False: there is none. */
bool json_span_value(struct csn_str text, struct csn_str *out, struct json_fault *fault);

/* The same of a text that has nothing else but blanks. */
bool json_span_only_value(struct csn_str text, struct csn_str *out, struct json_fault *fault);

/* The line of a place in the text, from 1. */
size_t json_span_line(struct csn_str text, size_t at);

/* The rest is for spans of whole values. */

/* The members of an object or the items of an array; any other value has none. */
struct json_items {
    struct csn_str rest;
    bool is_object;
};
struct json_items json_items_of(struct csn_str value);
/* `key` is a string with its quotes, empty in arrays. */
bool json_items_next(struct json_items *items, struct csn_str *key, struct csn_str *value);
/* How many members or items a value has. */
size_t json_span_count(struct csn_str value);

/* The last member of that name. False: there is none, or `object` is none. */
bool json_span_find(struct csn_str object, const char *key, struct csn_str *out);
/* The last member of each of the names, in one walk; empty: there is none, or `object` is none. */
void json_span_members(struct csn_str object, const char *const *keys, size_t count, struct csn_str *out);
bool json_span_is_array(struct csn_str value);
bool json_span_is_object(struct csn_str value);
bool json_span_is_true(struct csn_str value);
/* Whether a string is `text`, which is short and ASCII. */
bool json_span_equals(struct csn_str string, const char *text);
/* A string's bytes, escapes resolved, in `out` with space for string.len bytes; their number. 0: it is no string. */
size_t json_span_text(struct csn_str string, char *out);
/* False: no integer from 0 to 2^64 - 1. */
bool json_span_u64(struct csn_str value, uint64_t *out);

#endif
