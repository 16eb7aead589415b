/* The text of a demangled name: what fits is kept, all of it is counted, up to a limit. Names come from untrusted files: a few
 * hundred bytes with back references can stand for gigabytes of text. */
#ifndef CSNI_NAME_TEXT_H
#define CSNI_NAME_TEXT_H

#include <stdbool.h>
#include <string.h>

#include <callsign/base.h>

enum { CSNI_NAME_MAX_SIZE = 1 << 20 };

struct csni_name_text {
    char *out;
    size_t cap;
    size_t len;
    char last;     /* the last byte written; 0: none */
    bool too_long; /* the limit was reached: the text is of no use */
};

/* Where the text is, to go back to. */
struct csni_name_mark {
    size_t len;
    char last;
};

static inline void csni_name_put(struct csni_name_text *text, const char *bytes, size_t size) {
    if (!size) return;
    if (size > CSNI_NAME_MAX_SIZE - text->len) {
        text->too_long = true;
        return;
    }
    if (text->len < text->cap) {
        size_t capacity = text->cap - text->len;
        memcpy(text->out + text->len, bytes, size < capacity ? size : capacity);
    }
    text->len += size;
    text->last = bytes[size - 1];
}

static inline void csni_name_put_char(struct csni_name_text *text, char c) {
    if (text->len >= CSNI_NAME_MAX_SIZE) {
        text->too_long = true;
        return;
    }
    if (text->len < text->cap) text->out[text->len] = c;
    text->len++;
    text->last = c;
}

static inline void csni_name_put_text(struct csni_name_text *text, const char *string) {
    csni_name_put(text, string, strlen(string));
}

static inline void csni_name_put_str(struct csni_name_text *text, struct csn_str str) {
    csni_name_put(text, str.ptr, str.len);
}

/* Decimal digits of `value`. */
void csni_name_put_number(struct csni_name_text *text, uint64_t value);
/* A code point as UTF-8. */
void csni_name_put_utf8(struct csni_name_text *text, uint32_t code);

static inline struct csni_name_mark csni_name_get_mark(const struct csni_name_text *text) {
    return (struct csni_name_mark){ text->len, text->last };
}

static inline void csni_name_back_to(struct csni_name_text *text, struct csni_name_mark mark) {
    text->len = mark.len;
    text->last = mark.last;
}

#endif
