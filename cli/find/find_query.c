/* Matching names and paths. */
#define _GNU_SOURCE
#include "find/find_query.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "find/name_parts.h"
#include "ui/text_bytes.h"

enum { GLOB_NAME_MAX = 1 << 16 };

static bool same(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static struct csn_str str_of(const char *text) { return (struct csn_str){ text, strlen(text) }; }

/* ---- parsing ---- */

/* Of a letter beyond ASCII. */
static bool is_wide(char c) { return (unsigned char)c >= 0x80; }

static bool has_text(const char *text, size_t size, const char *part) { return memmem(text, size, part, strlen(part)) != NULL; }

/* The last identifier before parameters and template arguments, and before what demanglers put in quotes or braces ("'lambda'",
 * "{closure#0}"): mangled names spell it out. Not of operators, not in std, where names are abbreviated, not with letters that are
 * Punycode in mangled names, and not a return type: of "int (*f(char))(long)", of "int (anonymous namespace)::g<int>(int)". */
static struct csn_str word_of(const char *text) {
    static const char declared[] = "decltype";
    struct csn_str none = { "", 0 };
    size_t end = strcspn(text, "(<'{");
    if (strstr(text, "operator") || has_text(text, end, "std::") || (text[end] == '(' && end && text[end - 1] == ' ')) return none;
    while (end && !is_word_char(text[end - 1]))
        if (is_wide(text[--end])) return none;
    size_t start = end;
    while (start && is_word_char(text[start - 1])) start--;
    const struct csn_str word = { text + start, end - start };
    return (start && is_wide(text[start - 1])) || same(word, str_of(declared)) ? none : word;
}

/* Swift writes a word that has been in the name before as a letter. */
static bool shares_words(struct csn_str mangled) {
    static const char *const prefixes[] = { "$s", "_$s", "$S", "_$S", "_T0", "__T0", "@__swiftmacro_" };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (has_text_at(mangled, 0, prefixes[i])) return true;
    return false;
}

static bool parse_line(const char *text, struct find_query *out) {
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[-1] == ':' || !colon[1] ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    unsigned long long line = strtoull(colon + 1, NULL, 10);
    if (!line || line > UINT32_MAX) return false;
    /* "./main.c" is the end of every path that "main.c" is, and "//src/main.c" is "/src/main.c". */
    while (text[0] == '.' && text[1] == '/' && text + 2 < colon) text += 2;
    while (text[0] == '/' && text[1] == '/') text++;
    out->file = (struct csn_str){ text, (size_t)(colon - text) };
    out->line = (uint32_t)line;
    return true;
}

void find_query_of_name(const char *name, struct find_query *out) {
    *out = (struct find_query){ .text = name, .kind = FIND_NAME, .word = word_of(name) };
}

void find_query_of_glob(const char *glob, struct find_query *out) {
    *out = (struct find_query){ .text = glob, .kind = FIND_GLOB };
}

/* Demangled names have * and ? in parameters, template arguments and operators. */
static bool may_be_name(const char *text) { return strpbrk(text, "(<") || strstr(text, "operator"); }

void find_query_parse(const char *text, struct find_query *out) {
    const bool is_glob = strpbrk(text, "*?");
    *out = (struct find_query){ .text = text };
    if (parse_line(text, out)) {
        out->kind = FIND_LINE;
    } else if (is_glob && !may_be_name(text)) {
        find_query_of_glob(text, out);
    } else {
        find_query_of_name(text, out);
        out->may_be_glob = is_glob;
    }
}

bool find_query_is_mangled(const struct find_query *query) {
    static const char *const prefixes[] = { "_Z", "__Z", "_R", "?" };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(query->text, prefixes[i], strlen(prefixes[i])) == 0) return query->kind == FIND_NAME;
    return false;
}

/* ---- names ---- */

/* Behind the parameters at `at`: what is within the function, or a stub for it, is another one. */
static bool ends_function(struct csn_str name, size_t at) {
    at = skip_parameters(name, at);
    return !has_text_at(name, at, "::") && !(has_text_at(name, at, "@plt") && name.len - at == 4);
}

/* What may follow the name of a function: parameters, an ABI tag, a clone's suffix; template arguments before them. Those behind
 * 'lambda' belong to its name. */
static bool ends_name(struct csn_str name, size_t at) {
    while (has_text_at(name, at, "[abi:")) at = brackets_end(name, at, '[', ']');
    if (at < name.len && name.ptr[at] == '<') {
        const bool is_operator = at && name.ptr[at - 1] == '<'; /* "operator<<(A)" is not operator< */
        at = skip_template_arguments(name, at);
        if (is_operator && at == name.len && name.ptr[at - 1] != '>') return false;
    }
    if (at < name.len && name.ptr[at] == '(') return at && name.ptr[at - 1] != '\'' && ends_function(name, at);
    return at == name.len || name.ptr[at] == ' ';
}

static unsigned long number_at(struct csn_str text, size_t *at) {
    unsigned long number = 0;
    for (; is_digit(byte_at(text, *at)); ++*at) number = number * 10 + (unsigned long)(text.ptr[*at] - '0');
    return number;
}

/* "{lambda" of "{lambda(int)#2}", as GNU's demangler writes what is "'lambda0'(int)" in the name. True: both are passed. */
static bool pass_gnu_word(struct csn_str wanted, size_t *i, struct csn_str name, size_t *at) {
    static const char *const words[][2] = { { "{lambda", "'lambda" }, { "{unnamed type", "'unnamed" } };
    size_t w = 0;
    while (w < 2 && !(has_text_at(wanted, *i, words[w][0]) && has_text_at(name, *at, words[w][1]))) w++;
    if (w == 2) return false;
    size_t mark = brackets_end(wanted, *i, '{', '}'), close = *at + strlen(words[w][1]);
    const bool is_first = byte_at(name, close) == '\'';
    const unsigned long number = is_first ? 1 : number_at(name, &close) + 2;
    while (mark > *i && wanted.ptr[mark - 1] != '#') mark--;
    if (number_at(wanted, &mark) != number || byte_at(name, close) != '\'') return false;
    *i += strlen(words[w][0]);
    *at = close + 1;
    return true;
}

/* Past "#2}", which pass_gnu_word() has compared. */
static bool pass_gnu_number(struct csn_str wanted, size_t *i) {
    size_t end = *i + 1;
    if (wanted.ptr[*i] != '#' || !number_at(wanted, &end) || byte_at(wanted, end) != '}') return false;
    *i = end + 1;
    return true;
}

/* Past ":1" of "auto:1", as GNU's demangler writes "auto" of a generic lambda. */
static bool pass_gnu_auto(struct csn_str wanted, size_t *i) {
    static const char word[] = "auto";
    const size_t size = sizeof(word) - 1;
    size_t end = *i + 1;
    if (wanted.ptr[*i] != ':' || *i < size || !has_text_at(wanted, *i - size, word) || !number_at(wanted, &end)) return false;
    *i = end;
    return true;
}

/* A blank between two brackets, "> >" and "operator< <int>": so write GNU's demangler and those of C++98. */
static bool is_blank_in_brackets(struct csn_str wanted, size_t i) {
    const char next = byte_at(wanted, i + 1);
    return wanted.ptr[i] == ' ' && i && wanted.ptr[i - 1] == next && (next == '>' || next == '<');
}

/* The end of `wanted` at `at`; SIZE_MAX: it is not there. */
static size_t wanted_end(struct csn_str name, size_t at, struct csn_str wanted) {
    for (size_t i = 0; i < wanted.len;) {
        if (at < name.len && name.ptr[at] == wanted.ptr[i]) {
            at++;
            i++;
        } else if (is_blank_in_brackets(wanted, i)) {
            i++;
        } else if (!pass_gnu_auto(wanted, &i) && !pass_gnu_number(wanted, &i) && !pass_gnu_word(wanted, &i, name, &at)) {
            return SIZE_MAX;
        }
    }
    return at;
}

/* "non-virtual thunk to X::f()": another function than X::f(). */
static bool is_thunk(struct csn_str name) {
    static const char *const words[] = { "non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to " };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (has_text_at(name, 0, words[i])) return true;
    return false;
}

/* `wanted` in a demangled name, without its parameters. A return type may stand before it. */
static bool names_function(struct csn_str name, struct csn_str wanted) {
    if (is_thunk(name) && !is_thunk(wanted)) return false;
    for (size_t i = 0; i < name.len; i = skip_name_part(name, i)) {
        const bool begins = i == 0 || name.ptr[i - 1] == ' ' || name.ptr[i - 1] == '*' || name.ptr[i - 1] == '&';
        const size_t end = begins ? wanted_end(name, i, wanted) : SIZE_MAX;
        if (end != SIZE_MAX && ends_name(name, end) && !is_decltype_bracket(name, has_text_at(name, end, " (") ? end + 1 : end))
            return true;
    }
    return false;
}

static bool fits_glob(const char *pattern, struct csn_str name) {
    char buffer[1024], *text = name.len < sizeof(buffer) ? buffer : name.len < GLOB_NAME_MAX ? malloc(name.len + 1) : NULL;
    if (!text) return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = 0;
    bool fits = fnmatch(pattern, text, FNM_NOESCAPE) == 0;
    if (text != buffer) free(text);
    return fits;
}

/* "run(int)", "half<int>": stored as a demangler writes it, as Breakpad files have their names. */
static bool is_demangled(struct csn_str name) { return memchr(name.ptr, '(', name.len) || memchr(name.ptr, '<', name.len); }

bool find_query_has_name(const struct find_query *query, struct shown_name *given, struct name_text *demangler) {
    const struct csn_str name = given->stored;
    struct csn_str wanted = str_of(query->text);
    bool is_glob = query->kind == FIND_GLOB;
    if (!name.len) return false;
    if (is_glob ? fits_glob(query->text, name) : same(name, wanted)) return true;
    if (!is_glob && query->word.len && !memmem(name.ptr, name.len, query->word.ptr, query->word.len) && !shares_words(name))
        return false;
    if (!given->is_made) given->text = name_text(demangler, name);
    given->is_made = true;
    struct csn_str shown = given->text;
    if (shown.ptr == name.ptr && !is_demangled(name)) return false;
    if (is_glob && fits_glob(query->text, shown)) return true; /* else it may be "f<int>(int*)" of "int f<int>(int*)" */
    return wanted_end(shown, 0, wanted) == shown.len || names_function(shown, wanted);
}

/* ---- files ---- */

static bool is_slash(char c) { return c == '/' || c == '\\'; }

/* Compares from the end: the base name, then the folders of the directory. */
bool find_query_has_file(const struct find_query *query, struct csn_str directory, struct csn_str base) {
    struct csn_str wanted = query->file;
    if (wanted.len < base.len || memcmp(wanted.ptr + wanted.len - base.len, base.ptr, base.len) != 0) {
        /* "h.c" of "graph.c" is no file; nor does a base name hold folders. */
        return false;
    }
    size_t left = wanted.len - base.len;
    if (!left) return base.len != 0;
    if (!is_slash(wanted.ptr[left - 1])) return false;
    while (left && is_slash(wanted.ptr[left - 1])) left--;
    size_t end = directory.len;
    while (end && is_slash(directory.ptr[end - 1])) end--;
    if (!left) return !end;
    if (left > end || memcmp(directory.ptr + end - left, wanted.ptr, left) != 0) return false;
    return left == end || is_slash(directory.ptr[end - left - 1]);
}
