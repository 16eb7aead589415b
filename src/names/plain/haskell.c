/* Haskell names as GHC makes them: package, module, name and kind, separated by underscores and each z-encoded, so
 * that none holds one. */
#include "names/plain/plain.h"

/* The character after 'z' or 'Z'; 0: none. */
static char z_character(char kind, char c) {
    static const char lower[] = "abcdeghilmnpqrstuvz", lower_text[] = "&|^$=>#.<-!+'\\/*_%z";
    static const char upper[] = "LRMNCZ", upper_text[] = "()[]:Z";
    const char *letters = kind == 'z' ? lower : upper, *found = c ? strchr(letters, c) : NULL;
    return found ? (kind == 'z' ? lower_text : upper_text)[found - letters] : 0;
}

/* "Z3T" is (,,), "Z3H" is (#,,#). `at` is at the digits. 0: neither. */
static size_t put_tuple(struct csn_str text, size_t at, struct csni_name_text *out) {
    size_t count = 0, begin = at;
    for (; at < text.len && csni_is_decimal(text.ptr[at]) && count < 100; at++) count = 10 * count + (size_t)(text.ptr[at] - '0');
    if (at == begin || at == text.len || (text.ptr[at] != 'T' && text.ptr[at] != 'H') || count >= 100) return 0;
    bool unboxed = text.ptr[at] == 'H';
    csni_name_put_text(out, unboxed ? "(#" : "(");
    for (size_t i = 1; i < count; i++) csni_name_put_char(out, ',');
    csni_name_put_text(out, unboxed ? "#)" : ")");
    return at + 1 - begin;
}

/* "z3b1U" is a code point. `at` is at the digits, the first of which is decimal. 0: none. */
static size_t put_code_point(struct csn_str text, size_t at, struct csni_name_text *out) {
    uint32_t code = 0;
    size_t begin = at;
    for (; at < text.len && at - begin < 7; at++) {
        char c = text.ptr[at];
        if (!csni_is_decimal(c) && (c < 'a' || c > 'f')) break;
        code = code << 4 | (uint32_t)(csni_is_decimal(c) ? c - '0' : c - 'a' + 10);
    }
    bool is_text = code > 0x20 && code != 0x7f && code < 0x110000 && (code < 0xd800 || code >= 0xe000);
    if (at == text.len || text.ptr[at] != 'U' || !is_text) return 0;
    csni_name_put_utf8(out, code);
    return at + 1 - begin;
}

static bool put_decoded(struct csn_str text, struct csni_name_text *out) {
    for (size_t at = 0; at < text.len;) {
        char c = text.ptr[at++];
        if (c != 'z' && c != 'Z') {
            csni_name_put_char(out, c);
            continue;
        }
        char next = at < text.len ? text.ptr[at] : 0, plain = z_character(c, next);
        if (plain) csni_name_put_char(out, plain);
        size_t size = plain ? 1 : !csni_is_decimal(next) ? 0 : c == 'Z' ? put_tuple(text, at, out) : put_code_point(text, at, out);
        if (!size) return false;
        at += size;
    }
    return text.len > 0;
}

static const char *const kinds[] = { "_static_info", "_con_info", "_static_entry", "_con_entry", "_info",
                                     "_closure",     "_entry",    "_ret",          "_slow",      "_fast",
                                     "_bytes",       "_srt",      "_closure_tbl",  "_dflt",      "_str" };

static const char *kind_of(struct csn_str name) {
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = strlen(kinds[i]);
        if (name.len > len && memcmp(name.ptr + name.len - len, kinds[i], len) == 0) return kinds[i] + 1;
    }
    return NULL;
}

/* "containerszm0zi6" and the like: no capital letter but in escapes. */
static bool is_package(struct csn_str part) {
    if (!part.len || !csni_is_lower(part.ptr[0])) return false;
    for (size_t i = 0; i < part.len; i++)
        if (!csni_is_lower(part.ptr[i]) && !csni_is_decimal(part.ptr[i]) && !csni_is_upper(part.ptr[i])) return false;
    return true;
}

static bool is_module(struct csn_str part) { return part.len && csni_is_upper(part.ptr[0]) && part.ptr[0] != 'Z'; }

/* What no C name looks like: a module with a dot, a package with a hyphen or a version, the main module. */
static bool has_mark(struct csn_str package, struct csn_str module) {
    return csni_find(module, 0, "zi") < module.len || csni_find(package, 0, "zm") < package.len ||
           (module.len == 4 && csni_starts_with(module, "Main"));
}

bool csni_haskell_demangle(struct csn_str name, struct csni_name_text *out) {
    if (name.ptr[0] == '_') name = csni_part(name, 1, name.len); /* Mach-O puts one before every name */
    const char *kind = kind_of(name);
    if (!kind) return false;
    name.len -= strlen(kind) + 1;
    size_t first = csni_find(name, 0, "_"), second = first < name.len ? csni_find(name, first + 1, "_") : name.len;
    if (first == name.len || csni_find(name, second + (second < name.len), "_") < name.len) return false;
    bool has_package = second < name.len;
    size_t module = has_package ? first + 1 : 0, module_end = has_package ? second : first;
    struct csn_str package = csni_part(name, 0, has_package ? first : 0), module_part = csni_part(name, module, module_end);
    if ((has_package && !is_package(package)) || !is_module(module_part) || !has_mark(package, module_part)) return false;
    if (has_package) {
        if (!put_decoded(package, out)) return false;
        csni_name_put_text(out, ":");
    }
    if (!put_decoded(module_part, out)) return false;
    csni_name_put_text(out, ".");
    if (!put_decoded(csni_part(name, module_end + 1, name.len), out)) return false;
    csni_name_put_text(out, " (");
    csni_name_put_text(out, kind);
    csni_name_put_text(out, ")");
    return true;
}
