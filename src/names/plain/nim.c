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

/* Letters and digits only, and `joint` between them; 0: none. Nim takes underscores out of most names. */
static bool is_word(struct csn_str text, char joint) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_joint = joint && c == joint && i && i + 1 < text.len;
        if (!is_joint && !csni_is_lower(c) && !csni_is_upper(c) && !csni_is_decimal(c)) return false;
    }
    return text.len && !csni_is_decimal(text.ptr[0]);
}

/* What sets an attribute ("callbackeq": `callback=`), and what the compiler names (":anonymous"). */
static bool put_half_word(struct csn_str text, struct csni_name_text *out) {
    enum { EQ = 2, COLON = 5 };
    if (csni_starts_with(text, "colon") && is_word(csni_part(text, COLON, text.len), 0)) {
        csni_name_put_char(out, ':');
        csni_name_put_str(out, csni_part(text, COLON, text.len));
        return true;
    }
    if (text.len <= EQ || memcmp(text.ptr + text.len - EQ, "eq", EQ) != 0 ||
        !is_word(csni_part(text, 0, text.len - EQ), '_'))
        return false;
    csni_name_put_char(out, '`');
    csni_name_put_str(out, csni_part(text, 0, text.len - EQ));
    csni_name_put_text(out, "=`");
    return true;
}

static bool is_operator_text(struct csn_str text) {
    size_t at = 0;
    for (size_t size = 1; at < text.len && size; at += size) {
        char c;
        size = mark_size(text, at, &c);
    }
    return at == text.len;
}

static bool put_operator(struct csn_str text, struct csni_name_text *out) {
    if (!is_operator_text(text)) return put_half_word(text, out);
    csni_name_put_char(out, '`');
    for (size_t at = 0; at < text.len;) {
        char c;
        at += mark_size(text, at, &c);
        csni_name_put_char(out, c);
    }
    csni_name_put_char(out, '`');
    return text.len > 0;
}

/* Folders end with 'Z': "stdZprivateZdigitsutils". */
static void put_module(struct csn_str module, struct csni_name_text *out) {
    for (size_t i = 0; i < module.len; i++) csni_name_put_char(out, module.ptr[i] == 'Z' ? '/' : module.ptr[i]);
}

/* Names of C hold two underscores and a number too: without 'u' before the number (since Nim 2.0), the module has to
 * be known as one. */
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
    bool known = is_known_module(module); /* names of C hold single underscores more often, as those of wrappers do */
    if (!is_word(word, known ? '_' : 0) || !is_word(module, 0) || !csni_is_lower(module.ptr[0]) || (old && !is_operator && !known))
        return false;
    put_module(module, out);
    csni_name_put_char(out, '.');
    if (is_operator) return put_operator(word, out);
    csni_name_put_str(out, word);
    return true;
}
