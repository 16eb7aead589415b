/* OCaml names: "caml", the modules, what is meant, a number; other characters as '$' and two digits. Modules end with two underscores,
 * from OCaml 5.1 on with a dot, and, for Windows (5.3) and Apple's systems (5.4), with '$', where "$$" begins other characters. */
#include "names/plain/plain.h"

static int hex_value(char c) {
    return csni_is_decimal(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes of an escape at `at`, "$2b" or "$$2b", and its character; 0: there is none. */
static size_t escape_size(struct csn_str name, size_t at, char *out) {
    if (name.ptr[at] != '$') return 0;
    size_t digits = at + 1 + (name.len - at > 1 && name.ptr[at + 1] == '$');
    if (digits + 2 > name.len) return 0;
    int high = hex_value(name.ptr[digits]), low = hex_value(name.ptr[digits + 1]), c = high * 16 + low;
    *out = (char)c;
    return high >= 0 && low >= 0 && c > 0x20 && c < 0x7f ? digits + 2 - at : 0;
}

/* "camlFoo$25": a constant, which has no number after it. */
static bool is_number(struct csn_str text) {
    for (size_t at = 0; at < text.len; at++)
        if (!csni_is_decimal(text.ptr[at])) return false;
    return text.len > 0;
}

static size_t separator_size(struct csn_str name, size_t at, bool had_number) {
    char c;
    struct csn_str rest = csni_part(name, at + 1, name.len);
    if (!rest.len) return 0;
    switch (name.ptr[at]) {
    case '.': return 1;
    case '_': return rest.ptr[0] == '_' ? 2 : 0;
    case '$': return !escape_size(name, at, &c) || (!had_number && is_number(rest)) ? 1 : 0;
    default: return 0;
    }
}

/* Where the name is that follows the modules, which begin with capital letters; name.len: there is none. Underscores within it are its
 * own: `in_`, `a__b`. */
static size_t find_member(struct csn_str name, bool had_number) {
    for (size_t at = 0, part = 0; at < name.len;) {
        if (at == part && !csni_is_upper(name.ptr[at])) return at;
        size_t size = separator_size(name, at, had_number);
        at += size ? size : 1;
        if (size) part = at;
    }
    return name.len;
}

/* The number after a name; a number alone ("camlFoo__5") is the name. */
static bool drop_number(struct csn_str *name) {
    struct csn_str bare = *name;
    if (!csni_drop_number(&bare, "_") || (bare.ptr[bare.len - 1] == '_' && find_member(bare, true) == bare.len)) return false;
    *name = bare;
    return true;
}

/* "_code" after a number: of a function. Modules may be called so. */
static bool drop_code(struct csn_str *name) {
    if (name->len < 7 || memcmp(name->ptr + name->len - 5, "_code", 5) != 0 || !csni_is_decimal(name->ptr[name->len - 6]))
        return false;
    name->len -= 5;
    return true;
}

static bool has_separator(struct csn_str name) {
    for (size_t at = 0; at < name.len; at++)
        if (separator_size(name, at, false)) return true;
    return false;
}

/* Mach-O puts an underscore before every name. */
bool csni_ocaml_demangle(struct csn_str name, struct csni_name_text *out) {
    if (name.ptr[0] == '_') name = csni_part(name, 1, name.len);
    if (name.len < 5 || !csni_starts_with(name, "caml") || !csni_is_upper(name.ptr[4])) return false;
    name = csni_part(name, 4, name.len);
    bool has_member = has_separator(name), had_number = false;
    int numbers = has_member && drop_code(&name) ? 2 : 1;
    for (; has_member && numbers; numbers--) had_number |= drop_number(&name);
    size_t member = find_member(name, had_number);
    for (size_t at = 0, size; at < name.len; at += size) {
        char c = '.';
        size = at < member ? separator_size(name, at, had_number) : 0;
        if (size && at + size < name.len) {
            csni_name_put_char(out, '.');
            continue;
        }
        size = escape_size(name, at, &c);
        csni_name_put_char(out, size ? c : name.ptr[at]);
        if (!size) size = 1;
    }
    return true;
}
