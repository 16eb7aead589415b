/* GNU writes lambdas, suffixes of clones, nested templates, pointers to functions, vectors and some words otherwise, and
 * leaves out what a function returns in which something local is. */
#define _GNU_SOURCE
#include "stand_ins/gnu_names/gnu_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gnu_names/gnu_floats.h"

static bool opens(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
static bool closes(const char *begin, const char *at) {
    return *at == ')' || *at == ']' || *at == '}' || (*at == '>' && !(at > begin && at[-1] == '-'));
}

/* ---- suffixes ---- */

/* The next of the suffixes in [p, end) as GNU reads them: ".isra.0", ".cold", ".123". NULL: none. */
static const char *clone_end(const char *p, const char *end) {
    const char *begin = p;
    if (end - p > 1 && (islower((unsigned char)p[1]) || isdigit((unsigned char)p[1]) || p[1] == '_'))
        for (p += 2; p < end && (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_'); p++) continue;
    while (end - p > 1 && *p == '.' && isdigit((unsigned char)p[1]))
        for (p += 2; p < end && isdigit((unsigned char)*p); p++) continue;
    return p > begin ? p : NULL;
}

/* Where the suffix " (.isra.0.cold)" of a demangled name begins; NULL: it has none. */
static const char *find_suffix(const char *text) {
    size_t size = strlen(text);
    const char *at = size && text[size - 1] == ')' ? memrchr(text, ' ', size) : NULL;
    return at && at > text && strncmp(at, " (.", 3) == 0 ? at : NULL;
}

/* Before "const" and the like behind a function's parameters. */
static const char *before_qualifiers(const char *text, const char *end) {
    static const char *const qualifiers[] = { " const", " volatile", " &", " &&" };
    for (size_t i = 0; i < sizeof qualifiers / sizeof qualifiers[0]; i++) {
        const size_t size = strlen(qualifiers[i]);
        if ((size_t)(end - text) <= size || memcmp(end - size, qualifiers[i], size) != 0) continue;
        end -= size;
        i = (size_t)-1;
    }
    return end;
}

/* Whether what stands before a suffix is a function with its parameters, or names no entity of the source. */
static bool takes_suffix(const char *name, const char *text, const char *suffix) {
    return before_qualifiers(text, suffix)[-1] == ')' || strncmp(name, "_ZT", 3) == 0 || strncmp(name, "_ZG", 3) == 0;
}

bool gnu_reads_suffix(const char *name, const char *text) {
    const char *suffix = find_suffix(text);
    if (!suffix) return true;
    const char *p = suffix + 2, *end = text + strlen(text) - 1;
    if (!takes_suffix(name, text, suffix)) return false;
    while (p && p < end) p = clone_end(p, end);
    return p;
}

void gnu_drop_suffix(char *text) {
    const char *suffix = find_suffix(text);
    if (suffix) text[suffix - text] = 0;
}

/* " (.isra.0.cold)" at the end is " [clone .isra.0] [clone .cold]". */
static size_t put_clones(struct grown_text *out, const char *at) {
    if (find_suffix(at - 1) != at) return 0;
    const char *p = at + 2, *end = at + strlen(at) - 1;
    while (p < end) {
        const char *begin = p;
        p = clone_end(p, end);
        if (!p) p = end;
        grow_text(out, " [clone ", 8);
        grow_text(out, begin, (size_t)(p - begin));
        grow_text(out, "]", 1);
    }
    return (size_t)(end + 1 - at);
}

/* ---- words ---- */

size_t gnu_operator_size(const char *text) {
    if (strncmp(text, "()", 2) == 0 || strncmp(text, "[]", 2) == 0) return 2;
    const size_t angles = strspn(text, "<");
    if (angles) return angles - (text[angles] != '(' && text[angles] != '=' && text[angles] != ' ');
    return strcspn(text, "<(") < strspn(text, ">-,=!&|*/+%^~") ? strcspn(text, "<(") : strspn(text, ">-,=!&|*/+%^~");
}

static void put_part(struct grown_text *out, const char *given, const char *p, const char *end);

/* Where the brackets that open at `at` close. NULL: nowhere. */
static const char *closing_bracket(const char *at) {
    int depth = 0;
    for (const char *p = at; *p; p++) {
        depth += opens(*p) - closes(at, p);
        if (!depth) return p;
    }
    return NULL;
}

/* "'lambda'(int)" is "{lambda(int)#1}", "'lambda0'(int)" the second one; "'unnamed'" is "{unnamed type#1}". Returns
 * what was read. */
static size_t put_unnamed(struct grown_text *out, const char *given, const char *at) {
    bool lambda = strncmp(at, "'lambda", 7) == 0;
    if (!lambda && strncmp(at, "'unnamed", 8) != 0) return 0;
    const char *p = at + (lambda ? 7 : 8), *begin;
    unsigned long number = *p == '\'' ? 1 : strtoul(p, NULL, 10) + 2;
    char digits[32];
    while (*p && *p != '\'') p++;
    if (!*p) return 0;
    begin = ++p;
    const char *close = lambda && *p == '(' ? closing_bracket(p) : NULL;
    if (close) p = close + 1;
    grow_text(out, lambda ? "{lambda" : "{unnamed type", lambda ? 7 : 13);
    put_part(out, given, begin, p);
    grow_text(out, digits, (size_t)snprintf(digits, sizeof digits, "#%lu}", number));
    return (size_t)(p - at);
}

/* Where the argument ends that begins at `at`. *open: its last round bracket outside of all others; *plain: what is
 * before that is a qualified name without arguments of a template. NULL: nowhere. */
static const char *argument_end(const char *at, const char **open, bool *plain) {
    bool qualified = false;
    const char *end = at, *symbol_end = NULL;
    *open = NULL;
    for (*plain = false; *end && *end != ',' && (end == at || !closes(at, end)); end++) {
        if (strncmp(end, "operator", 8) == 0 && (end == at || !gnu_is_word_char(end[-1])))
            symbol_end = end += 8 + gnu_operator_size(end + 8);
        if (!*end) return NULL;
        qualified |= strncmp(end, "::", 2) == 0;
        if (*end == '(') {
            *open = end;
            *plain = qualified && (end[-1] != '>' || end == symbol_end);
        }
        if (opens(*end)) end = closing_bracket(end);
        if (!end) return NULL;
    }
    return end;
}

/* "&f(int)" as an argument of a template is "&(f(int))", and "&a::f(int)" is "&a::f". Returns what was read. */
static size_t put_address(struct grown_text *out, const char *given, const char *at) {
    static const char unnamed[] = "(anonymous namespace)";
    bool begins_argument = at > given && (at[-1] == '<' || (at[-1] == ' ' && at - given > 1 && at[-2] == ','));
    bool begins_name = isalpha((unsigned char)at[1]) || at[1] == '_' || strncmp(at + 1, unnamed, sizeof unnamed - 1) == 0;
    const char *open, *end;
    bool plain;
    if (!begins_argument || !begins_name || !(end = argument_end(at + 1, &open, &plain)) || !open) return 0;
    const char *close = before_qualifiers(at, end);
    if (close[-1] != ')') return 0;
    plain &= close == end;
    grow_text(out, "&(", plain ? 1 : 2);
    put_part(out, given, at + 1, plain ? open : end);
    if (!plain) grow_text(out, ")", 1);
    if (plain && open[-1] == '>' && *end == '>') grow_text(out, " ", 1);
    return (size_t)(end - at);
}

/* What has another name. Returns what was read. */
static size_t put_other_word(struct grown_text *out, const char *given, const char *at) {
    static const struct {
        const char *llvm, *gnu;
        bool at_start;
    } words[] = {
        { "std::nullptr_t", "decltype(nullptr)", false },
        { "thread-local initialization routine for ", "TLS init function for ", true },
        { "thread-local wrapper routine for ", "TLS wrapper function for ", true },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i].llvm);
        if (strncmp(at, words[i].llvm, size) != 0 || (words[i].at_start ? at > given : gnu_is_word_char(at[size]))) continue;
        grow_text(out, words[i].gnu, strlen(words[i].gnu));
        return size;
    }
    return 0;
}

/* "float vector[4]" is "float __vector(4)". Returns what was read. */
static size_t put_vector(struct grown_text *out, const char *given, const char *at) {
    static const char word[] = " vector[";
    const size_t before = sizeof word - 1, digits = strncmp(at, word, before) == 0 ? strspn(at + before, "0123456789") : 0;
    if (at == given || !digits || at[before + digits] != ']') return 0;
    grow_text(out, " __vector(", 10);
    grow_text(out, at + before, digits);
    grow_text(out, ")", 1);
    return before + digits + 1;
}

/* "double complex" is "double _Complex". Only types of the language are complex, and no name of the source stands behind them
 * but that of a function with arguments of a template. Returns what was read. */
static size_t put_complex(struct grown_text *out, const char *given, const char *at) {
    static const char *const types[] = { "double", "float", "__float128", "_Float16", "char", "short", "int", "long", "__int128" };
    static const struct { const char *llvm, *gnu; } words[] = { { " complex", " _Complex" }, { " imaginary", " _Imaginary" } };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i].llvm);
        if (strncmp(at, words[i].llvm, size) != 0 || gnu_is_word_char(at[size]) || (at[size] && strchr("<:[", at[size]))) continue;
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            const size_t before = strlen(types[k]);
            if ((size_t)(at - given) < before || memcmp(at - before, types[k], before) != 0) continue;
            if ((size_t)(at - given) > before && gnu_is_word_char(at[-(ptrdiff_t)before - 1])) continue;
            grow_text(out, words[i].gnu, strlen(words[i].gnu));
            return size;
        }
    }
    return 0;
}

/* "operator<<int>" is "operator< <int>", and "operator<<<int>" "operator<< <int>"; "operator<<=" stays. */
static bool begins_arguments(const char *text, const char *at) {
    const char *begin = at;
    while (begin > text && begin[-1] == '<') begin--;
    return begin - text >= 8 && memcmp(begin - 8, "operator", 8) == 0 && at > begin && !strchr("(<=", at[1]);
}

/* The blank of "(* (" and of "(a::b<int>::* (", which GNU leaves out. */
static bool is_blank_of_pointer(const char *text, const char *at) {
    if (at == text || at[1] != '(' || (at[-1] != '*' && at[-1] != '&')) return false;
    const char *p = at - 1;
    while (p > text && (p[-1] == '*' || p[-1] == '&')) p--;
    if (p > text && p[-1] == '(') return true;
    if (p - text < 2 || p[-1] != ':') return false;
    int depth = 0;
    for (p--; p > text; p--) {
        if (!depth && (p[-1] == '(' || p[-1] == ' ' || p[-1] == ',' || p[-1] == '<')) return p[-1] == '(';
        depth += closes(text, p - 1) - opens(p[-1]);
    }
    return false;
}

/* "int const const&", where a parameter that is const stands for "const T&": GNU writes the word once. Returns the
 * bytes of the first one. */
static size_t repeated_qualifier(const char *at) {
    static const char *const words[] = { " const", " volatile" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i]);
        if (strncmp(at, words[i], size) == 0 && strncmp(at + size, words[i], size) == 0 &&
            !gnu_is_word_char(at[2 * size]))
            return size;
    }
    return 0;
}

static size_t put_special(struct grown_text *out, const char *given, const char *p) {
    size_t read;
    switch (*p) {
    case '\'': return put_unnamed(out, given, p);
    case ' ':
        if (is_blank_of_pointer(given, p)) return 1;
        if ((read = put_vector(out, given, p)) || (read = put_complex(out, given, p))) return read;
        return p == given ? 0 : repeated_qualifier(p) ? repeated_qualifier(p) : put_clones(out, p);
    case '&': return put_address(out, given, p);
    case '0': case '-': return gnu_put_float(out, given, p);
    case 's': case 't': return p == given || !(gnu_is_word_char(p[-1]) || p[-1] == ':') ? put_other_word(out, given, p) : 0;
    default: return 0;
    }
}

/* Of the text `given`, the part [p, end). */
static void put_part(struct grown_text *out, const char *given, const char *p, const char *end) {
    while (p < end) {
        size_t read = put_special(out, given, p);
        if (read) {
            p += read;
            continue;
        }
        bool is_operator = p - given >= 9 && memcmp(p - 9, "operator>", 9) == 0;
        if (*p == '>' && p > given && p[-1] == '>' && !is_operator) grow_text(out, " ", 1);
        if (*p == '<' && begins_arguments(given, p)) grow_text(out, " ", 1);
        grow_text(out, p++, 1);
    }
}

/* ---- what functions around something local return ---- */

/* Where "operator" and its symbol begin that end before `at`. NULL: no such thing is there. */
static const char *operator_before(const char *text, const char *at) {
    const char *p = at;
    while (p > text && strchr("<>-,=!&|*/+%^~ ", p[-1])) p--;
    return p - text >= 8 && p < at && memcmp(p - 8, "operator", 8) == 0 ? p - 8 : NULL;
}

/* Going back from `at`, where the first blank, comma or opening bracket ends that is in no brackets; with `blanks`
 * blanks do not count. */
static char *back_to_separator(char *text, char *at, bool blanks) {
    int depth = 0;
    while (at > text) {
        const char c = at[-1];
        if (!depth && (c == '<' || c == ' ')) {
            const char *name = operator_before(text, at);
            if (name) {
                at = text + (name - text);
                continue;
            }
        }
        if (!depth && (opens(c) || c == ',' || (c == ' ' && !blanks))) break;
        depth += closes(text, at - 1) - opens(c);
        at--;
    }
    return at;
}

/* The function's parameters end at `end`, and a name in it follows. Returns its name's beginning without what it returns; NULL: it
 * returns nothing that is written. *from: where that begins. */
static char *returned_type(char *text, char *end, char **from) {
    int depth = 0;
    char *open = end;
    while (open > text) {
        open--;
        depth += (*open == ')') - (*open == '(');
        if (!depth) break;
    }
    if (open == text || open[-1] != '>') return NULL;
    char *name = back_to_separator(text, open, false);
    if (name == text || name[-1] != ' ' || (name - text > 1 && name[-2] == ',')) return NULL;
    char *begin = back_to_separator(text, name - 1, true);
    if (*begin == ' ') begin++;
    char *special = begin == text ? memmem(text, (size_t)(name - text), " for ", 5) : NULL;
    *from = special ? special + 5 : begin;
    return *from < name ? name : NULL;
}

/* "void f<int>(int)::x" is "f<int>(int)::x", also as a part of another name. */
static void drop_returned_types(char *text) {
    for (char *p = text; (p = strstr(p, "::"));) {
        char *from, *end = text + (before_qualifiers(text, p) - text);
        char *name = end > text && end[-1] == ')' ? returned_type(text, end, &from) : NULL;
        if (name) {
            memmove(from, name, strlen(name) + 1);
            p -= name - from;
        }
        p += 2;
    }
}

char *gnu_words(char *given) {
    struct grown_text out = { 0 };
    put_part(&out, given, given, given + strlen(given));
    grow_text(&out, "", 1);
    free(given);
    drop_returned_types(out.items);
    return out.items;
}
