/* A growing buffer of text, and JSON written into it. A failed allocation is remembered; later calls then do nothing. */
#ifndef CALLSIGN_SERVER_TEXT_H
#define CALLSIGN_SERVER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *ptr;      /* not NUL-terminated; see text_cstr() */
    size_t size, cap;
    bool failed;
};

void text_free(struct text *text);
bool text_reserve(struct text *text, size_t more);
void text_bytes(struct text *text, const void *bytes, size_t size);
void text_put(struct text *text, const char *s);
void text_char(struct text *text, char c);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes of unknown origin for people: control characters become \xNN, so that they can neither break the line nor
 * steer a terminal. */
void text_safe(struct text *text, const char *s);
void text_hex(struct text *text, uint64_t value);     /* 0x1f */
void text_decimal(struct text *text, uint64_t value);
/* The text; bytes that are not UTF-8 become U+FFFD. */
void text_utf8(struct text *text, const char *s, size_t size);
/* A JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *s, size_t size);
void text_json_cstr(struct text *text, const char *s);
/* `"key":"value"`, preceded by a comma unless it is the first of its object. */
void text_json_member(struct text *text, const char *key, const char *value);
/* FNV-1a: for tables whose keys nobody gains by making equal. */
uint64_t text_hash(const void *bytes, size_t size);

/* NUL-terminates; "" where memory was short. Valid until the next change. */
const char *text_cstr(struct text *text);

#endif
