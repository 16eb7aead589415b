/* C++ in words of Java. A function's type follows its parameters, pointers have no star, and '.' stands between names. */
#include "stand_ins/gnu_names/java_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/base.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/gnu_names/gnu_words.h"

static bool begins(const char *at, const char *end, const char *text) {
    size_t size = strlen(text);
    return (size_t)(end - at) >= size && memcmp(at, text, size) == 0;
}
static bool begins_word(const char *at, const char *end, const char *word) {
    size_t size = strlen(word);
    return begins(at, end, word) && (at + size == end || !gnu_is_word_char(at[size]));
}

/* ---- words ---- */

/* Abbreviations of the mangling, which are written as they are. */
static size_t abbreviation_size(const char *at, const char *end) {
    static const char *const names[] = { "std::allocator", "std::basic_string", "std::string",
                                         "std::istream",   "std::ostream",      "std::iostream" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins_word(at, end, names[i])) return strlen(names[i]);
    return 0;
}

/* A type's name in Java. Returns the bytes that it replaces; 0: it stays. */
static size_t put_type(struct grown_text *out, const char *at, const char *end) {
    static const struct {
        const char *cxx, *java;
    } types[] = {
        { "unsigned long long", "unsigned long long" }, { "unsigned long", "unsigned long" }, { "unsigned short", "unsigned short" },
        { "unsigned char", "unsigned char" }, { "unsigned int", "unsigned" }, { "signed char", "signed char" }, { "long long", "long" },
        { "wchar_t", "char" }, { "char", "byte" }, { "bool", "boolean" },
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!begins_word(at, end, types[i].cxx)) continue;
        grow_text(out, types[i].java, strlen(types[i].java));
        return strlen(types[i].cxx);
    }
    return 0;
}

/* Of a pointer, not of a pointer to a member, a product or what a pointer in an expression leads to. */
static bool is_pointer_star(const char *begin, const char *at, const char *end) {
    char before = at > begin ? at[-1] : 0, after = at + 1 < end ? at[1] : 0;
    return before != ':' && after != '{' && !gnu_is_word_char(after) && (after != '(' || before == '(');
}

/* Where the '<' at `at` closes. */
static const char *closing_angle(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        depth += (*at == '<') - (*at == '>' && at[-1] != '-');
        if (!depth) return at;
    }
    return NULL;
}

static void put_words(struct grown_text *out, const char *at, const char *end);

/* "JArray<int>" is "int[]". Returns what was read. */
static size_t put_array(struct grown_text *out, const char *at, const char *end) {
    const char *open = at + strlen("JArray"), *close = begins(at, end, "JArray<") ? closing_angle(open, end) : NULL;
    if (!close) return 0;
    const char *last = close > open + 1 && close[-1] == ' ' ? close - 1 : close;
    put_words(out, open + 1, last);
    grow_text(out, "[]", 2);
    return (size_t)(close + 1 - at);
}

/* A whole word, which may be one for another in Java. Returns its size. */
static size_t put_word(struct grown_text *out, const char *begin, const char *at, const char *end) {
    size_t size = begins_word(at, end, "operator") ? strlen("operator") + gnu_operator_size(at + strlen("operator"))
                                                   : abbreviation_size(at, end);
    if (size > (size_t)(end - at)) size = (size_t)(end - at);
    if (!size) {
        size = put_type(out, at, end);
        if (!size && (at == begin || at[-1] != ':')) size = put_array(out, at, end);
        if (size) return size;
        while (at + size < end && gnu_is_word_char(at[size])) size++;
    }
    grow_text(out, at, size);
    return size;
}

static void put_words(struct grown_text *out, const char *at, const char *end) {
    const char *begin = at;
    while (at < end) {
        if (gnu_is_word_char(*at)) at += put_word(out, begin, at, end);
        else if (begins(at, end, "::") && !begins(at, end, "::*")) {
            grow_text(out, ".", 1);
            at += 2;
        } else if (*at == '*' && is_pointer_star(begin, at, end)) {
            at++;
        } else {
            /* A star was between them. */
            if (*at == '>' && at > begin && at[-1] == '*' && out->count && out->items[out->count - 1] == '>')
                grow_text(out, " ", 1);
            grow_text(out, at++, 1);
        }
    }
}

/* ---- functions ---- */

struct name_group {
    const char *open, *close; /* of brackets outside of all others; NULL: there is none */
};

/* The last group of round brackets before `end`; where `star` is set the first one that begins with a pointer or a
 * reference. *blank: the last blank outside of all brackets before that group and before "operator"; NULL: none. */
static struct name_group find_group(const char *at, const char *end, bool star, const char **blank) {
    struct name_group found = { NULL, NULL };
    const char *last_blank = NULL;
    bool in_operator = false;
    int depth = 0;
    *blank = NULL;
    for (const char *p = at; p < end; p++) {
        if (begins_word(p, end, "operator") && (p == at || !gnu_is_word_char(p[-1]))) {
            p += strlen("operator") + gnu_operator_size(p + strlen("operator")) - 1;
            in_operator |= !depth;
            continue;
        }
        if (*p == ' ' && !depth && !in_operator) last_blank = p;
        if (*p == '(' && !depth && (!star || p[1] == '*' || p[1] == '&')) {
            found = (struct name_group){ p, NULL };
            *blank = last_blank;
        }
        depth += (*p == '(' || *p == '<' || *p == '[' || *p == '{');
        depth -= (*p == ')' || (*p == '>' && p > at && p[-1] != '-') || *p == ']' || *p == '}');
        if (*p == ')' && !depth && found.open && !found.close) {
            found.close = p;
            if (star) return found;
        }
    }
    return found.close ? found : (struct name_group){ NULL, NULL };
}

static bool are_qualifiers(const char *at, const char *end) {
    static const char *const qualifiers[] = { " const", " volatile", " restrict", " &&", " &" };
    for (size_t i = 0; at < end && i < sizeof qualifiers / sizeof qualifiers[0]; i++)
        if (begins(at, end, qualifiers[i])) {
            at += strlen(qualifiers[i]);
            i = (size_t)-1;
        }
    return at == end;
}

/* "TYPE NAME(PARAMETERS)" or "TYPE (*NAME(PARAMETERS))(...)": the type comes last. */
static void put_function(struct grown_text *out, const char *at, const char *end) {
    const char *blank;
    struct name_group group = find_group(at, end, false, &blank);
    bool is_plain = group.open && group.open > at && group.open[-1] != ')' && are_qualifiers(group.close + 1, end);
    if (is_plain) {
        put_words(out, blank ? blank + 1 : at, end);
        if (blank) put_words(out, at, blank);
        return;
    }
    group = find_group(at, end, true, &blank);
    if (!group.open || group.open == at) {
        put_words(out, at, end);
        return;
    }
    const char *name = group.open + 1;
    while (name < group.close && (*name == '*' || *name == '&')) name++;
    put_function(out, name, group.close);
    char *type = copy_text(at, (size_t)(end - at));
    size_t kept = (size_t)(name - at), cut = (size_t)(group.close - at);
    memmove(type + kept, type + cut, strlen(type + cut) + 1);
    put_words(out, type, type + strlen(type));
    free(type);
}

char *java_name(char *name) {
    struct grown_text out = { 0 };
    const char *clones = strstr(name, " [clone "), *end = clones ? clones : name + strlen(name),
               *thunk = strstr(name, " thunk to "), *at = name;
    if (thunk) {
        at = thunk + strlen(" thunk to ");
        grow_text(&out, name, (size_t)(at - name));
    }
    if (!thunk && strstr(name, " for ")) put_words(&out, at, end);
    else put_function(&out, at, end);
    grow_text(&out, end, strlen(end) + 1);
    free(name);
    return out.items;
}
