/* Brackets, quotes and operators. */
#include "find/name_parts.h"

#include <string.h>

/* What is in parentheses may compare: "<(N > 1)>". */
size_t skip_template_arguments(struct csn_str name, size_t at) {
    unsigned depth = 0;
    while (at < name.len) {
        const char c = name.ptr[at];
        const bool is_arrow = at && name.ptr[at - 1] == '-' && c == '>';
        if (c == '(') {
            at = brackets_end(name, at, '(', ')');
            continue;
        }
        at++;
        if (c == '<') depth++;
        else if (c == '>' && !is_arrow && !--depth) return at;
    }
    return at;
}

size_t skip_parameters(struct csn_str name, size_t at) {
    at = brackets_end(name, at, '(', ')');
    while (has_text_at(name, at, " const") || has_text_at(name, at, " volatile") || has_text_at(name, at, " &"))
        for (at++; at < name.len && name.ptr[at] != ' ' && name.ptr[at] != ':'; at++) continue;
    return at;
}

/* Past "'lambda0'(int)", "'lambda'<typename $T>($T)", "'unnamed'". A quote alone is part of a name. */
static size_t skip_quoted(struct csn_str name, size_t at) {
    const char *close = memchr(name.ptr + at + 1, '\'', name.len - at - 1);
    if (!close) return at + 1;
    at = (size_t)(close - name.ptr) + 1;
    if (byte_at(name, at) == '<') at = skip_template_arguments(name, at);
    return byte_at(name, at) == '(' ? brackets_end(name, at, '(', ')') : at;
}

static bool is_operator_at(struct csn_str name, size_t at) {
    static const char word[] = "operator";
    const size_t end = at + sizeof(word) - 1;
    return has_text_at(name, at, word) && (!at || !is_word_char(name.ptr[at - 1])) && !is_word_char(byte_at(name, end));
}

bool is_decltype_bracket(struct csn_str name, size_t bracket) {
    static const char word[] = "decltype";
    const size_t size = sizeof(word) - 1, end = bracket && name.ptr[bracket - 1] == ' ' ? bracket - 1 : bracket;
    return end >= size && memcmp(name.ptr + end - size, word, size) == 0 &&
           (end == size || !is_word_char(name.ptr[end - size - 1]));
}

/* "void (*handler<int>(int))(char)", "int (Box<int>::*handler(int))(char)": the name of what returns a pointer to a function. */
static bool is_inner_name(struct csn_str name, size_t bracket) {
    if (!bracket || name.ptr[bracket - 1] != ' ') return false;
    size_t at = bracket + 1;
    while (at < name.len && (is_word_char(name.ptr[at]) || name.ptr[at] == ':' || name.ptr[at] == '<'))
        at = name.ptr[at] == '<' ? skip_template_arguments(name, at) : at + 1;
    const bool is_first = at == bracket + 1, is_member = has_text_at(name, at - 1, ":*");
    return at < name.len && ((is_first && (name.ptr[at] == '*' || name.ptr[at] == '&')) || is_member);
}

/* "operator()", "operator<<": no brackets. */
static size_t skip_operator(struct csn_str name, size_t at) {
    at += strlen("operator");
    if (has_text_at(name, at, "()")) return at + 2;
    while (at < name.len && (name.ptr[at] == '<' || name.ptr[at] == '>' || name.ptr[at] == '-')) at++;
    return at;
}

size_t skip_name_part(struct csn_str name, size_t at) {
    const char c = name.ptr[at];
    if (is_operator_at(name, at)) return skip_operator(name, at);
    if (c == '<') return skip_template_arguments(name, at);
    if (c == '{') return brackets_end(name, at, '{', '}');
    if (c == '\'') return skip_quoted(name, at);
    if (c != '(' || is_inner_name(name, at)) return at + 1;
    if (is_decltype_bracket(name, at)) return brackets_end(name, at, '(', ')');
    const size_t end = skip_parameters(name, at); /* "f(int)::Local& g<f(int)::Local>(..)", "(anonymous namespace)::g(..)" */
    return has_text_at(name, end, "::") ? end : SIZE_MAX;
}
