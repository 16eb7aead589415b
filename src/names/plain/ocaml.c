/* OCaml names: "caml", the modules, what is meant, a number; other characters as '$' and two digits. */
#include "names/plain/plain.h"

static int hex_value(char c) {
    return csni_is_decimal(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character that "$2b" at `at` is; 0: it is none. */
static char escaped(struct csn_str name, size_t at) {
    if (name.ptr[at] != '$' || name.len - at < 3) return 0;
    int high = hex_value(name.ptr[at + 1]), low = hex_value(name.ptr[at + 2]);
    int c = high * 16 + low;
    return high >= 0 && low >= 0 && c > 0x20 && c < 0x7f ? (char)c : 0;
}

static size_t separator_size(struct csn_str name, size_t at) {
    if (name.ptr[at] == '.') return 1;
    return name.len - at > 1 && name.ptr[at] == '_' && name.ptr[at + 1] == '_' ? 2 : 0;
}

/* Where the name is that follows the modules, which begin with capital letters; name.len: there is none. Underscores within it are its
 * own: `in_`, `a__b`. */
static size_t find_member(struct csn_str name) {
    for (size_t at = 0, part = 0; at < name.len;) {
        if (at == part && !csni_is_upper(name.ptr[at])) return at;
        size_t size = separator_size(name, at);
        at += size ? size : 1;
        if (size) part = at;
    }
    return name.len;
}

/* The number after a name; a number alone ("camlFoo__5") is the name. */
static void drop_stamp(struct csn_str *name) {
    struct csn_str bare = *name;
    if (csni_drop_number(&bare, "_") && (bare.ptr[bare.len - 1] != '_' || find_member(bare) < bare.len)) *name = bare;
}

bool csni_ocaml_demangle(struct csn_str name, struct csni_name_text *out) {
    if (name.len < 5 || !csni_starts_with(name, "caml") || !csni_is_upper(name.ptr[4])) return false;
    name = csni_part(name, 4, name.len);
    bool has_member = csni_find(name, 0, "__") < name.len || csni_find(name, 0, ".") < name.len;
    bool code = has_member && name.len > 5 && memcmp(name.ptr + name.len - 5, "_code", 5) == 0;
    if (code) name.len -= 5;
    for (int numbers = code ? 2 : 1; has_member && numbers; numbers--) drop_stamp(&name);
    size_t member = find_member(name);
    for (size_t at = 0; at < name.len;) {
        char c = escaped(name, at);
        bool separator = at < member && name.len - at > 2 && separator_size(name, at) == 2;
        csni_name_put_char(out, separator ? '.' : c ? c : name.ptr[at]);
        at += separator ? 2 : c ? 3 : 1;
    }
    return true;
}
