/* Nim names as its compiler makes them for C: name, module and number; marks of operators are words. */
#include "names/plain/plain.h"

static const struct {
    const char *word;
    char c;
} marks[] = { { "dollar", '$' }, { "percent", '%' }, { "amp", '&' },   { "roof", '^' },  { "emark", '!' }, { "qmark", '?' },
              { "star", '*' },   { "plus", '+' },    { "minus", '-' }, { "slash", '/' }, { "eq", '=' },    { "lt", '<' },
              { "gt", '>' },     { "tilde", '~' },   { "colon", ':' }, { "dot", '.' },   { "at", '@' },    { "bar", '|' },
              { "backslash", '\\' } };

static int hex_value(char c) { return csni_is_decimal(c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; }

/* The bytes of a mark at `at`: a word, or "X5B"; 0: there is none. */
static size_t mark_size(struct csn_str text, size_t at, char *out) {
    struct csn_str rest = csni_part(text, at, text.len);
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        *out = marks[i].c;
        if (csni_starts_with(rest, marks[i].word)) return strlen(marks[i].word);
    }
    if (rest.len < 3 || rest.ptr[0] != 'X') return 0;
    int high = hex_value(rest.ptr[1]), low = hex_value(rest.ptr[2]), c = high * 16 + low;
    *out = (char)c;
    return high >= 0 && low >= 0 && c > 0x20 && c < 0x7f ? 3 : 0;
}

static bool put_operator(struct csn_str text, struct csni_name_text *out) {
    csni_name_put_char(out, '`');
    for (size_t at = 0, size; at < text.len; at += size) {
        char c;
        size = mark_size(text, at, &c);
        if (!size) return false;
        csni_name_put_char(out, c);
    }
    csni_name_put_char(out, '`');
    return text.len > 0;
}

/* Letters and digits only: Nim takes underscores out of names. */
static bool is_word(struct csn_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (!csni_is_lower(text.ptr[i]) && !csni_is_upper(text.ptr[i]) && !csni_is_decimal(text.ptr[i])) return false;
    return text.len && !csni_is_decimal(text.ptr[0]);
}

/* Folders end with 'Z': "stdZprivateZdigitsutils". */
static void put_module(struct csn_str module, struct csni_name_text *out) {
    for (size_t i = 0; i < module.len; i++) csni_name_put_char(out, module.ptr[i] == 'Z' ? '/' : module.ptr[i]);
}

/* Names of C hold two underscores and a number too: without 'u' before the number (since Nim 2.0), the module has to be known as one. */
static bool is_known_module(struct csn_str module) {
    return (module.len == 6 && csni_starts_with(module, "system")) || csni_starts_with(module, "systemZ") ||
           csni_starts_with(module, "stdZ") || csni_starts_with(module, "pureZ") || csni_starts_with(module, "impureZ") ||
           csni_starts_with(module, "coreZ") || csni_starts_with(module, "posixZ") || csni_starts_with(module, "wrappersZ");
}

bool csni_nim_demangle(struct csn_str name, struct csni_name_text *out) {
    bool numbered = csni_drop_number(&name, "_u"), old = !numbered && csni_drop_number(&name, "_");
    size_t end = csni_find(name, 1, "__");
    if (!(numbered || old) || end >= name.len) return false;
    bool is_operator = end + 2 < name.len && name.ptr[end + 2] == '_';
    struct csn_str word = csni_part(name, 0, end), module = csni_part(name, end + 2 + is_operator, name.len);
    if (!is_word(word) || !is_word(module) || !csni_is_lower(module.ptr[0]) || (old && !is_operator && !is_known_module(module)))
        return false;
    put_module(module, out);
    csni_name_put_char(out, '.');
    if (is_operator) return put_operator(word, out);
    csni_name_put_str(out, word);
    return true;
}
