/* Reading a D name: text is written as the name is read; where D writes the parts in another order, they change
 * places after that. */
#ifndef CSNI_DLANG_READ_H
#define CSNI_DLANG_READ_H

#include "names/name_text.h"

enum { CSNI_DLANG_DEPTH_MAX = 256, CSNI_DLANG_STEPS_MAX = 1 << 19 };

struct csni_dlang_reader {
    const char *begin, *at, *end;
    struct csni_name_text *out;
    size_t base;          /* of the text that "initializer for " goes before */
    size_t last_reference; /* references within what a type reference refers to must be before it */
    uint32_t depth, steps;
};

typedef struct csni_dlang_reader dlang;

static inline char csni_d_peek(const dlang *r, size_t ahead) {
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : 0;
}

static inline bool csni_d_take(dlang *r, char c) {
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static inline bool csni_d_starts(const dlang *r, const char *text) {
    size_t len = strlen(text);
    return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

static inline bool csni_d_digit(char c) { return c >= '0' && c <= '9'; }
static inline void csni_d_put(dlang *r, const char *text) { csni_name_put_text(r->out, text); }

static inline bool csni_d_enter(dlang *r) {
    r->depth++;
    return r->depth <= CSNI_DLANG_DEPTH_MAX && r->steps++ < CSNI_DLANG_STEPS_MAX && !r->out->too_long;
}
static inline bool csni_d_leave(dlang *r, bool result) {
    r->depth--;
    return result;
}

static inline void csni_d_back_to(dlang *r, size_t len) {
    csni_name_back_to(r->out, (struct csni_name_mark){ len, 0 });
}

/* All return false where the name is damaged. */
bool csni_d_number(dlang *r, uint64_t *out);
/* "Q" and a distance: what it refers to. */
bool csni_d_reference(dlang *r, const char **out);
bool csni_d_starts_symbol(const dlang *r, const char *at);

bool csni_d_mangle(dlang *r);
bool csni_d_qualified(dlang *r, bool with_modifiers);
bool csni_d_type(dlang *r);
bool csni_d_modifiers(dlang *r);
/* A function type up to its return type: the parameters are written, and what stands before them where it is wanted. */
bool csni_d_parameters(dlang *r);
bool csni_d_skip_convention(dlang *r);
bool csni_d_is_convention(char c);
/* A value of a type that begins with `type`; the name of the type stands at the end of the text, from `name` on, and stays for
 * structures. */
bool csni_d_value(dlang *r, char type, size_t name);

#endif
