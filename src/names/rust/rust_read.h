/* Reading a Rust name of RFC 2603: tokens, and text that is written as the name is read. Paths and types are in
 * rust_v0.c, constants in rust_const.c; they contain each other. */
#ifndef CSNI_RUST_READ_H
#define CSNI_RUST_READ_H

#include "names/name_text.h"
#include "names/punycode.h"

enum { RUST_DEPTH_MAX = 500, RUST_STEPS_MAX = 1 << 20 };

struct csni_rust_reader {
    const char *begin, *at, *end; /* after "_R", up to a suffix */
    struct csni_name_text *out;
    uint64_t bound_lifetimes;
    uint32_t depth, steps;
    bool silent; /* nothing is written */
    bool failed;
};

static inline void rust_fail(struct csni_rust_reader *r) { r->failed = true; }

static inline bool rust_enter(struct csni_rust_reader *r) {
    if (r->depth >= RUST_DEPTH_MAX || r->steps++ >= RUST_STEPS_MAX || r->out->too_long) rust_fail(r);
    if (r->failed) return false;
    r->depth++;
    return true;
}

static inline void rust_put(struct csni_rust_reader *r, const char *text) {
    if (!r->silent && !r->failed) csni_name_put_text(r->out, text);
}

static inline void rust_put_bytes(struct csni_rust_reader *r, const char *bytes, size_t size) {
    if (!r->silent && !r->failed) csni_name_put(r->out, bytes, size);
}

static inline void rust_put_char(struct csni_rust_reader *r, char c) { rust_put_bytes(r, &c, 1); }

static inline void rust_put_number(struct csni_rust_reader *r, uint64_t value) {
    if (!r->silent && !r->failed) csni_name_put_number(r->out, value);
}

/* ---- tokens ---- */

static inline char rust_peek(const struct csni_rust_reader *r) { return r->at < r->end ? *r->at : 0; }

static inline char rust_next(struct csni_rust_reader *r) {
    if (r->at == r->end) rust_fail(r);
    return r->failed ? 0 : *r->at++;
}

static inline bool rust_take(struct csni_rust_reader *r, char c) {
    if (r->failed || rust_peek(r) != c || !c) return false;
    r->at++;
    return true;
}

static inline bool rust_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool rust_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool rust_is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static inline unsigned rust_digit_62(char c) {
    return (unsigned)(rust_is_digit(c) ? c - '0' : rust_is_lower(c) ? c - 'a' + 10 : rust_is_upper(c) ? c - 'A' + 36 : 62);
}

/* Digits to the base 62 and '_', counted from one; '_' alone is 0. */
static inline uint64_t rust_read_base_62(struct csni_rust_reader *r) {
    uint64_t value = 0;
    if (rust_take(r, '_')) return 0;
    for (;;) {
        unsigned digit = rust_digit_62(rust_next(r));
        if (r->failed || digit > 61 || value > (UINT64_MAX - 62) / 62) {
            rust_fail(r);
            return 0;
        }
        value = 62 * value + digit;
        if (rust_take(r, '_')) return value + 1;
    }
}

static inline uint64_t rust_read_tagged(struct csni_rust_reader *r, char tag) {
    return rust_take(r, tag) ? rust_read_base_62(r) + 1 : 0;
}

struct csni_rust_identifier {
    struct csn_str text;
    bool is_punycode;
};

static inline struct csni_rust_identifier rust_read_identifier(struct csni_rust_reader *r) {
    struct csni_rust_identifier id = { .is_punycode = rust_take(r, 'u') };
    size_t len = 0;
    if (!rust_is_digit(rust_peek(r))) rust_fail(r);
    bool more = rust_peek(r) != '0';
    do {
        if (r->failed) return id;
        len = 10 * len + (size_t)(rust_next(r) - '0');
        if (len > (size_t)(r->end - r->at)) rust_fail(r);
    } while (more && rust_is_digit(rust_peek(r)));
    rust_take(r, '_');
    if (r->failed || len > (size_t)(r->end - r->at)) {
        rust_fail(r);
        return id;
    }
    id.text = (struct csn_str){ r->at, len };
    r->at += len;
    return id;
}

static inline void rust_put_identifier(struct csni_rust_reader *r, struct csni_rust_identifier id) {
    if (r->silent || r->failed) return;
    if (!id.is_punycode) csni_name_put_str(r->out, id.text);
    else if (!csni_put_punycode(r->out, id.text)) rust_fail(r);
}

/* Hexadecimal digits and '_'. */
static inline struct csn_str rust_read_hex(struct csni_rust_reader *r) {
    const char *begin = r->at;
    while (rust_is_digit(rust_peek(r)) || (rust_peek(r) >= 'a' && rust_peek(r) <= 'f')) r->at++;
    struct csn_str digits = { begin, (size_t)(r->at - begin) };
    if (!rust_take(r, '_')) rust_fail(r);
    while (digits.len && digits.ptr[0] == '0') {
        digits.ptr++;
        digits.len--;
    }
    return digits;
}

static inline uint64_t rust_hex_value(struct csn_str digits) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) value = value << 4 | rust_digit_62(digits.ptr[i]);
    return value;
}

/* What a back reference refers to: reading goes on there. NULL: nothing is wanted of it. */
static inline const char *rust_follow(struct csni_rust_reader *r) {
    const char *from = r->at - 1;
    uint64_t position = rust_read_base_62(r);
    if (!r->failed && position >= (uint64_t)(from - r->begin)) rust_fail(r);
    if (r->failed || r->silent) return NULL;
    const char *back = r->at;
    r->at = r->begin + position;
    return back;
}

/* ---- the grammar is a circle ---- */

/* True: generic arguments are left open, for what a trait's bindings add to them. */
bool csni_rust_path(struct csni_rust_reader *r, bool in_type, bool leave_open);
void csni_rust_type(struct csni_rust_reader *r);
/* `in_value`: inside another constant, where no braces are needed. */
void csni_rust_const(struct csni_rust_reader *r, bool in_value);

#endif
