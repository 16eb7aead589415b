/* Languages whose names stand in symbols with separators and escapes, but without types: nothing to parse into a
 * tree. Their symbols are C identifiers too, so that each is read only where it has a mark that C's names do not
 * have. Each returns false where the name is not of that language; `out` then holds parts of an attempt. */
#ifndef CSNI_PLAIN_H
#define CSNI_PLAIN_H

#include "names/name_text.h"

/* GNAT: "pkg__sub__3" is pkg.sub. Marks: a number of an overload, an operator, elaboration, a unit of the library, "_ada_". */
bool csni_ada_demangle(struct csn_str name, struct csni_name_text *out);
/* "camlFoo__bar_123" is Foo.bar. */
bool csni_ocaml_demangle(struct csn_str name, struct csni_name_text *out);
/* GHC: "base_GHCziBase_map_info" is base:GHC.Base.map (info). */
bool csni_haskell_demangle(struct csn_str name, struct csni_name_text *out);
/* "addInt__stdZprivateZdigitsutils_u167" is std/private/digitsutils.addInt. */
bool csni_nim_demangle(struct csn_str name, struct csni_name_text *out);
/* Free Pascal: "P$HELLO$_$TFOO_$__$$_PRIV$LONGINT$$BOOLEAN" is HELLO.TFOO.PRIV(LONGINT): BOOLEAN. */
bool csni_pascal_demangle(struct csn_str name, struct csni_name_text *out);

static inline bool csni_is_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool csni_is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static inline bool csni_is_decimal(char c) { return c >= '0' && c <= '9'; }

/* Where `text` is in `name`, from `from` on; name.len: it is not. */
static inline size_t csni_find(struct csn_str name, size_t from, const char *text) {
    size_t len = strlen(text);
    for (; from + len <= name.len; from++)
        if (memcmp(name.ptr + from, text, len) == 0) return from;
    return name.len;
}

static inline bool csni_starts_with(struct csn_str name, const char *text) {
    size_t len = strlen(text);
    return name.len >= len && memcmp(name.ptr, text, len) == 0;
}

static inline struct csn_str csni_part(struct csn_str name, size_t from, size_t to) {
    return (struct csn_str){ name.ptr + from, to - from };
}

/* The digits at the end, and what stands before them, taken off; false: nothing is. */
static inline bool csni_drop_number(struct csn_str *name, const char *before) {
    size_t digits = name->len, len = strlen(before);
    while (digits && csni_is_decimal(name->ptr[digits - 1])) digits--;
    if (digits == name->len || digits <= len || memcmp(name->ptr + digits - len, before, len) != 0) return false;
    name->len = digits - len;
    return true;
}

#endif
