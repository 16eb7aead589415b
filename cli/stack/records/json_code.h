/* Text within a line of JSON: the bytes of a string, or of an array of byte values as the journal writes them; also
 * of a string of JSON that is the text of another string, as a container's log of a program that logs JSON. */
#ifndef CALLSIGN_CLI_JSON_CODE_H
#define CALLSIGN_CLI_JSON_CODE_H

#include "ui/out_buffer.h"

enum json_form { JSON_STRING, JSON_BYTES };
enum { JSON_LEVELS_MAX = 3 };

/* How a text is written: in forms[0], whose text is written in forms[1], and so on. One of them at most is an array. */
struct json_code {
    uint8_t count; /* 0: it stands for itself */
    uint8_t forms[JSON_LEVELS_MAX];
};

/* ---- reading ---- */

struct json_reader {
    const struct json_code *code;
    const char *at, *end; /* what has been read ends at `at` */
    struct {
        char bytes[4];
        uint8_t next, count;
    } rest[JSON_LEVELS_MAX]; /* of a character that was written as a number */
};

/* `raw`: the inside of a string or an array that has been checked. */
struct json_reader json_reader_on(const struct json_code *code, struct csn_str raw);
/* The next byte of the text; below 0: it is over. */
int json_read_byte(struct json_reader *reader);
/* How many bytes of `raw` stand for the first `count` bytes of its text. */
size_t json_raw_size(const struct json_code *code, struct csn_str raw, size_t count);

bool json_code_has(const struct json_code *code, enum json_form form);

/* ---- writing ---- */

struct json_writing {
    const struct json_code *code;
    struct out_buffer *out;
    bool begun; /* something of the array has been written, if there is one */
};

/* `continues`: something of the innermost string or array has been written. */
struct json_writing json_writing_on(const struct json_code *code, struct out_buffer *out, bool continues);
/* Text that is new. Where it comes into a string, bytes that are no UTF-8 become U+FFFD. */
void json_put_text(struct json_writing *writing, struct csn_str text);
/* A part of a string or array as it was. */
void json_put_raw(struct json_writing *writing, struct csn_str raw);

#endif
